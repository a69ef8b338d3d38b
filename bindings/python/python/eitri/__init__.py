"""Debug information for GPU compilers: described, written, checked, diagnosed.

    import eitri
    from eitri import location

    d = eitri.Description("amdgpu-gfx1100-wave32")
    unit = d.unit("scale.cl")
    int32 = d.base_type(unit, "int", "signed", 32)
    kernel = d.function(unit, "scale", code={"symbol": "scale", "bytes": 40}, kernel=True)
    d.parameter(kernel, "n", int32, live=[[0, 12, location.register("s4")], [12, 40, location.lane("v40", 7)]])

    written = eitri.emit(d, code={"scale": bytes(40)})
    assert eitri.check(d, written)
    print(eitri.dump(written))

Functions take contents as `bytes` or any buffer, or the name of a file. Errors are `eitri.Error`. Python's global lock
is released while the library works.
"""

from . import _eitri, location, spirv, types, value
from ._description import Description
from ._errors import At, Error, EvaluationError
from ._evaluate import MachineLike, MachineReader, RegisterReader, evaluate, evaluate_lanes, explain
from ._functions import (
    LintCode, attach, check, conform, consumers, dump, emit, import_, lint, lint_codes, locate, members, report,
    rewrite, rewrite_members, schema, stats, targets,
)
from ._input import Consumer, Data, DescriptionLike, TargetLike
from ._results import (
    CheckReport, ConformReport, Coverage, Difference, Emitted, Evaluation, Explanation, Finding, Fix,
    FunctionCoverage, Imported, LintReport, Located, Member, Report, Rewritten, RewrittenMembers, Statistics, Unimported, UnitCoverage,
    Unproven, VariableCoverage, Warning,
)

__all__ = [
    "At", "CheckReport", "ConformReport", "Consumer", "Coverage", "Data", "Description", "DescriptionLike",
    "Difference", "Emitted", "Error", "Evaluation", "EvaluationError", "Explanation", "Finding", "Fix",
    "FunctionCoverage", "Imported", "LintCode", "LintReport", "Located", "MachineLike", "MachineReader", "Member",
    "RegisterReader", "Report", "Rewritten", "RewrittenMembers", "Statistics", "TargetLike", "Unimported", "UnitCoverage", "Unproven",
    "VariableCoverage", "Warning",
    "attach", "check", "conform", "consumers", "dump", "emit", "evaluate", "evaluate_lanes", "explain", "import_",
    "lint", "lint_codes", "locate", "location", "members", "report", "rewrite", "rewrite_members", "schema",
    "spirv", "stats", "targets",
    "types", "value",
]

__version__: str = _eitri.version()
