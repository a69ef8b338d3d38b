//! Guides: the pages of the folder `docs`.

/// A module for each page. A page defines its links at its end as files; the definitions here come first and take
/// precedence, so that the links lead to the modules.
macro_rules! pages { ($($name:ident $page:literal $($picture:literal)?;)*) => { $(
    #[doc = concat!(
        "[quickstart]: crate::guide::quickstart\n",
        "[frames]: crate::guide::frames\n",
        "[divergence]: crate::guide::divergence\n",
        "[cpu]: crate::guide::cpu\n",
        "[locations]: crate::guide::locations\n",
        "[spirv]: crate::guide::spirv\n",
        "[compiler]: crate::guide::compiler\n",
        "[lint]: crate::guide::lint\n",
        "[report]: crate::guide::report\n",
        "[ptx]: crate::guide::ptx\n",
        "[consumers]: crate::guide::consumers\n",
        "[debuggers]: crate::guide::debuggers\n",
        "[limits]: crate::guide::limits\n",
        "[speed]: crate::guide::speed\n",
        "[python]: crate::guide::python\n",
        "[description]: crate::json\n",
        "[conformance]: crate::conform\n",
        "[picture]: #picture\n\n",
        include_str!($page),
        $("\n# Picture\n\n", include_str!($picture),)?
    )]
    pub mod $name {}
)* } }

pages! {
    quickstart "../docs/quickstart.md";
    frames "../docs/frames.md";
    divergence "../docs/divergence.md" "../docs/lanes.svg";
    locations "../docs/locations.md" "../docs/two-graphs.svg";
    cpu "../docs/cpu.md";
    compiler "../docs/compiler.md";
    lint "../docs/lint.md";
    report "../docs/report.md" "../docs/report.svg";
    spirv "../docs/spirv.md";
    ptx "../docs/ptx.md";
    nvidia "../docs/nvidia.md";
    consumers "../docs/consumers.md";
    debuggers "../docs/debuggers.md" "../docs/parts.svg";
    python "../docs/python.md";
    limits "../docs/limits.md";
    speed "../docs/speed.md";
}
