/* Builds a compute pipeline of a SPIR-V module with the first Vulkan device.
 *
 * lavapipe MODULE.spv ENTRY [SET BINDING TYPE]...
 *
 * The numbers of TYPE are those of VkDescriptorType. The exit code is 0 if the pipeline was built, 1 if not, and 77 if there
 * is no device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

#define SETS 4
#define MOST 64

static int failed(const char *what, VkResult result) {
    fprintf(stderr, "%s: %d\n", what, result);
    return 1;
}

int main(int count, char **arguments) {
    FILE *file = count > 2 ? fopen(arguments[1], "rb") : NULL;
    if (!file) return 2;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint32_t *code = malloc(size);
    if (!code || fread(code, 1, size, file) != size) return 2;
    fclose(file);

    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo of_instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    if (vkCreateInstance(&of_instance, NULL, &instance) != VK_SUCCESS) return 77;
    uint32_t devices = 1;
    VkPhysicalDevice physical;
    VkResult result = vkEnumeratePhysicalDevices(instance, &devices, &physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || devices == 0) return 77;
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(physical, &features);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo of_device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue,
        .pEnabledFeatures = &features};
    VkDevice device;
    if (vkCreateDevice(physical, &of_device, NULL, &device) != VK_SUCCESS) return 77;

    VkShaderModuleCreateInfo of_module = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = code};
    VkShaderModule module;
    if ((result = vkCreateShaderModule(device, &of_module, NULL, &module)) != VK_SUCCESS)
        return failed("vkCreateShaderModule", result);
    VkDescriptorSetLayout layouts[SETS];
    for (uint32_t set = 0; set < SETS; set++) {
        VkDescriptorSetLayoutBinding bindings[MOST];
        uint32_t bound = 0;
        for (int at = 3; at + 2 < count && bound < MOST; at += 3) {
            if ((uint32_t)atoi(arguments[at]) != set) continue;
            bindings[bound++] = (VkDescriptorSetLayoutBinding){
                .binding = (uint32_t)atoi(arguments[at + 1]), .descriptorType = (VkDescriptorType)atoi(arguments[at + 2]),
                .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
        }
        VkDescriptorSetLayoutCreateInfo of_set = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = bound, .pBindings = bindings};
        if ((result = vkCreateDescriptorSetLayout(device, &of_set, NULL, &layouts[set])) != VK_SUCCESS)
            return failed("vkCreateDescriptorSetLayout", result);
    }
    VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = 128};
    VkPipelineLayoutCreateInfo of_layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = SETS, .pSetLayouts = layouts,
        .pushConstantRangeCount = 1, .pPushConstantRanges = &constants};
    VkPipelineLayout layout;
    if ((result = vkCreatePipelineLayout(device, &of_layout, NULL, &layout)) != VK_SUCCESS)
        return failed("vkCreatePipelineLayout", result);
    VkComputePipelineCreateInfo of_pipeline = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO, .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module, .pName = arguments[2]}};
    VkPipeline pipeline;
    if ((result = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &of_pipeline, NULL, &pipeline)) != VK_SUCCESS)
        return failed("vkCreateComputePipelines", result);
    printf("%s\n", properties.deviceName);
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    for (uint32_t set = 0; set < SETS; set++) vkDestroyDescriptorSetLayout(device, layouts[set], NULL);
    vkDestroyShaderModule(device, module, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    free(code);
    return 0;
}
