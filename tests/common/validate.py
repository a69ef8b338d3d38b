import json, sys
try: from jsonschema import Draft202012Validator
except ImportError: sys.exit(77)
schema = json.load(open(sys.argv[1]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
for name in sys.argv[2:]:
    wrong = [error.json_path + " " + error.message[:200] for error in validator.iter_errors(json.load(open(name)))]
    print(name, ("refused" if wrong else "valid"), *wrong[:1])
