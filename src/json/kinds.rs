//! Kinds of keys: each has its type in JSON and the conversions from JSON and from the model.

/// Conversions of a kind: `type` in JSON, `read` as an argument of the builder's method, `write` from a value of the
/// model, and `may` from a field, whose default is not written. A `short` key stands for others and is only read.
macro_rules! kind {
    (type [flag]) => { bool };
    (may_read [flag] $reader:ident $unit:ident $json:expr) => { $json == Some(true) };
    (may [flag] $known:ident $field:expr) => { $field.then_some(true) };

    (type [maybe_flag]) => { bool };
    (may_read [maybe_flag] $reader:ident $unit:ident $json:expr) => { $json };
    (may [maybe_flag] $known:ident $field:expr) => { $field.then_some(true) };

    (type [negated]) => { bool };
    (may_read [negated] $reader:ident $unit:ident $json:expr) => { $json != Some(true) };
    (may [negated] $known:ident $field:expr) => { (!$field).then_some(true) };

    (type [text]) => { Text<'a> };
    (read [text] $reader:ident $unit:ident $json:expr) => { &*$json };
    (may_read [text] $reader:ident $unit:ident $json:expr) => { $json.as_deref() };
    (write [text] $known:ident $value:expr) => { $known.text($value) };

    (type [id]) => { Text<'a> };
    (read [id] $reader:ident $unit:ident $json:expr) => { &$json };
    (write [id] $known:ident $value:expr) => { $value.clone() };

    (type [name]) => { Text<'a> };
    (read [name] $reader:ident $unit:ident $json:expr) => { $json };
    (write [name] $known:ident $value:expr) => { $known.text($value) };

    (type [owned text]) => { Text<'a> };
    (read [owned text] $reader:ident $unit:ident $json:expr) => { $json.to_string().into() };
    (write [owned text] $known:ident $value:expr) => { Text($value.to_string().into()) };

    (type [maybe_empty text]) => { Text<'a> };
    (read [maybe_empty text] $reader:ident $unit:ident $json:expr) => { &*$json };
    (write [maybe_empty text] $known:ident $value:expr) => { $value.map_or("".into(), |text| $known.text(text)) };

    (type [word $type:ty]) => { Word<$type> };
    (read [word $type:ty] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [word $type:ty] $known:ident $value:expr) => { Word($value) };

    (may_read [word $type:ty] $reader:ident $unit:ident $json:expr) => { $json.map(|Word(value)| value) };

    (type [default $type:ty]) => { Word<$type> };
    (may_read [default $type:ty] $reader:ident $unit:ident $json:expr) => {
        $json.map_or_else(<$type>::default, |Word(value)| value)
    };
    (may [default $type:ty] $known:ident $field:expr) => {
        Some(Word($field)).filter(|Word(value)| *value != <$type>::default())
    };

    (type [dwarf_register]) => { Number };
    (read [dwarf_register] $reader:ident $unit:ident $json:expr) => { Reg($json.0) };
    (write [dwarf_register] $known:ident $value:expr) => { Number($value.0) };

    (type [register]) => { Named<'a> };
    (read [register] $reader:ident $unit:ident $json:expr) => { $reader.register(&$json)? };
    (write [register] $known:ident $value:expr) => { $known.register($value) };

    (type [space]) => { Named<'a> };
    (read [space] $reader:ident $unit:ident $json:expr) => { $reader.space(&$json)? };
    (write [space] $known:ident $value:expr) => { $known.space($value) };
    (may_read [space] $reader:ident $unit:ident $json:expr) => {
        $json.map_or(Ok(SpaceId::DEFAULT), |space| $reader.space(&space))?
    };
    (may [space] $known:ident $field:expr) => {
        Some($field).filter(|&space| space != SpaceId::DEFAULT).map(|space| $known.space(space))
    };

    (type [number $type:ty]) => { $type };
    (read [number $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (may_read [number $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (write [number $type:ty] $known:ident $value:expr) => { $value };

    (type [zero $type:ty]) => { $type };
    (read [zero $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (may_read [zero $type:ty] $reader:ident $unit:ident $json:expr) => { $json.unwrap_or(0) };
    (may [zero $type:ty] $known:ident $field:expr) => { Some($field).filter(|&number| number != 0) };

    (type [long]) => { Number };
    (read [long] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [long] $known:ident $value:expr) => { Number($value) };

    (type [zero_long]) => { Number };
    (may_read [zero_long] $reader:ident $unit:ident $json:expr) => { $json.map_or(0, |Number(number)| number) };
    (may [zero_long] $known:ident $field:expr) => { Some(Number($field)).filter(|&Number(number)| number != 0) };

    (type [maybe_long]) => { Number };
    (may_read [maybe_long] $reader:ident $unit:ident $json:expr) => { $json.map(|Number(number)| number) };
    (may [maybe_long] $known:ident $field:expr) => { $field.map(Number) };

    (type [counts]) => { Vec<Option<Number>> };
    (read [counts] $reader:ident $unit:ident $json:expr) => {
        $json.into_iter().map(|count| count.map_or_else(Extent::unknown, |count| Extent::fixed(count.0))).collect()
    };
    (write [counts] $known:ident $value:expr) => {
        $value
            .iter()
            .map(|dimension| match dimension.count {
                Count::Fixed(count) => Some(Number(count)),
                _ => None,
            })
            .collect()
    };

    (type [list $object:ident]) => { Vec<$object<'a>> };
    (read [list $object:ident] $reader:ident $unit:ident $json:expr) => {
        $json.iter_mut().map(|json| json.read($reader, $unit)).collect::<Result<Vec<_>>>()?
    };
    (may_read [list $object:ident] $reader:ident $unit:ident $json:expr) => {
        kind!(read [list $object] $reader $unit $json.unwrap_or_default())
    };
    (write [list $object:ident] $known:ident $value:expr) => {
        $value.iter().map(|value| $object::write($known, value)).collect::<Vec<_>>()
    };
    (may [list $object:ident] $known:ident $value:expr) => {
        Some(kind!(write [list $object] $known $value)).filter(|json| !json.is_empty())
    };

    (type [choice $type:ty]) => { $type };
    (read [choice $type:ty] $reader:ident $unit:ident $json:expr) => { $json.read($reader, $unit)? };
    (write [choice $type:ty] $known:ident $value:expr) => { <$type>::write($known, &$value) };

    (type [enumerators]) => { Vec<(Text<'a>, Integer)> };
    (read [enumerators] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|(name, Integer(value))| (&**name, *value)).collect::<Vec<_>>()
    };
    (write [enumerators] $known:ident $value:expr) => {
        $value.iter().map(|&(name, value)| ($known.text(name), Integer(value))).collect()
    };

    (type [values]) => { Vec<Values> };
    (read [values] $reader:ident $unit:ident $json:expr) => {
        &$json
            .iter()
            .map(|values| match *values {
                Values::Single(Integer(value)) => VariantValues::Single(value),
                Values::Range(Integer(first), Integer(last)) => VariantValues::Range(first, last),
            })
            .collect::<Vec<_>>()
    };
    (write [values] $known:ident $value:expr) => {
        $value
            .iter()
            .map(|values| match *values {
                VariantValues::Single(value) => Values::Single(Integer(value)),
                VariantValues::Range(first, last) => Values::Range(Integer(first), Integer(last)),
            })
            .collect()
    };

    (type [pcs]) => { Vec<Pcs> };
    (read [pcs] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|(start, end)| start.0..end.0).collect::<Vec<_>>()
    };
    (write [pcs] $known:ident $value:expr) => {
        $value.iter().map(|pcs| (Number(pcs.start), Number(pcs.end))).collect()
    };

    (type [pc_range]) => { Pcs };
    (read [pc_range] $reader:ident $unit:ident $json:expr) => { $json.0.0..$json.1.0 };
    (write [pc_range] $known:ident $value:expr) => { (Number($value.start), Number($value.end)) };

    (type [signed_range]) => { (Signed, Signed) };
    (read [signed_range] $reader:ident $unit:ident $json:expr) => { $json.0.0..$json.1.0 };
    (may [signed_range] $known:ident $field:expr) => {
        $field.as_ref().map(|range| (Signed(range.start), Signed(range.end)))
    };

    (type [later $element:ident]) => { Later<'a, Elements<'a, $element<'a>>> };
    (read [later $element:ident] $reader:ident $unit:ident $json:expr) => { &$json };
    (may_read [later $element:ident] $reader:ident $unit:ident $json:expr) => { $json.as_ref() };
    (write [later $element:ident] $known:ident $value:expr) => {
        Later::Model(Elements { known: $known, of: &$value })
    };

    (type [masks]) => { Later<'a, Elements<'a, MaskAt<'a>>> };
    (read [masks] $reader:ident $unit:ident $json:expr) => { $reader.masks($unit, &$json)? };
    (write [masks] $known:ident $value:expr) => { Later::Model(Elements { known: $known, of: &$value }) };

    (type [macros]) => { Vec<MacroStep<'a>> };
    (read [macros] $reader:ident $unit:ident $json:expr) => { &mut $json };
    (write [macros] $known:ident $value:expr) => {
        $value.iter().map(|step| MacroStep::write($known, step)).collect()
    };

    (type [short $type:ty]) => { $type };
    (may_read [short $type:ty] $reader:ident $unit:ident $json:expr) => { $json };
    (may [short $type:ty] $known:ident $field:expr) => { None };

    (type [constant]) => { Bytes };
    (read [constant] $reader:ident $unit:ident $json:expr) => { &$json.0 };
    (write [constant] $known:ident $value:expr) => { $value.clone() };

    (type [space_id]) => { u32 };
    (read [space_id] $reader:ident $unit:ident $json:expr) => { SpaceId($json) };
    (write [space_id] $known:ident $value:expr) => { $value.0 };

    (type [relocations]) => { (u32, u32, u32) };
    (read [relocations] $reader:ident $unit:ident $json:expr) => {
        Relocations { abs32: $json.0, abs64: $json.1, relative32: $json.2 }
    };
    (may_read [relocations] $reader:ident $unit:ident $json:expr) => {{
        let json = $json.unwrap_or_default();
        kind!(read [relocations] $reader $unit json)
    }};
    (write [relocations] $known:ident $value:expr) => { ($value.abs32, $value.abs64, $value.relative32) };
    (may [relocations] $known:ident $value:expr) => {
        Some(kind!(write [relocations] $known $value)).filter(|json| *json != (0, 0, 0))
    };

    (type [signed]) => { Signed };
    (read [signed] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [signed] $known:ident $value:expr) => { Signed($value) };

    (type [bytes]) => { Number };
    (read [bytes] $reader:ident $unit:ident $json:expr) => { $json.0 };
    (write [bytes] $known:ident $bits:expr) => { Number($bits / 8) };

    (type [md5]) => { Bytes };
    (read [md5] $reader:ident $unit:ident $json:expr) => {
        <[u8; 16]>::try_from($json.0).map_err(|_| Error::bad_argument("an MD5 sum has 16 bytes"))?
    };
    (write [md5] $known:ident $value:expr) => { Bytes($value.to_vec()) };

    (type [language]) => { Named<'a> };
    (read [language] $reader:ident $unit:ident $json:expr) => {
        $reader.of_key("language", language::read(&$json))?
    };
    (write [language] $known:ident $value:expr) => { language::write($value) };

    (type [line]) => { Line<'a> };
    (read [line] $reader:ident $unit:ident $json:expr) => { $reader.line($unit, &$json)? };
    (write [line] $known:ident $value:expr) => { $known.line($value) };

    (type [type]) => { Ref<'a> };
    (read [type] $reader:ident $unit:ident $json:expr) => { $reader.ty($unit, &$json)? };
    (may_read [type] $reader:ident $unit:ident $json:expr) => { $reader.maybe_type($unit, $json.as_ref())? };
    (write [type] $known:ident $value:expr) => { $known.type_ref($value) };

    (type [optional type]) => { Option<Ref<'a>> };
    (read [optional type] $reader:ident $unit:ident $json:expr) => { $reader.maybe_type($unit, $json.as_ref())? };
    (write [optional type] $known:ident $value:expr) => { $value.map(|ty| $known.type_ref(ty)) };

    (type [types]) => { Vec<Ref<'a>> };
    (read [types] $reader:ident $unit:ident $json:expr) => {
        &$json.iter().map(|ty| $reader.ty($unit, ty)).collect::<Result<Vec<_>>>()?
    };
    (write [types] $known:ident $value:expr) => { $value.iter().map(|&ty| $known.type_ref(ty)).collect() };

    (type [function]) => { Ref<'a> };
    (read [function] $reader:ident $unit:ident $json:expr) => { $reader.names.functions.find($unit, &$json)? };
    (write [function] $known:ident $value:expr) => { $known.function_ref($value) };

    (type [scoped function]) => { Ref<'a> };
    (read [scoped function] $reader:ident $unit:ident $json:expr) => { $reader.function(&$json)?.0 };
    (write [scoped function] $known:ident $value:expr) => { $known.function_ref($value) };

    (type [unit]) => { Ref<'a> };
    (read [unit] $reader:ident $unit:ident $json:expr) => { $reader.unit(&$json)? };
    (write [unit] $known:ident $value:expr) => { $known.unit_ref($value) };

    (type [scope]) => { Ref<'a> };
    (read [scope] $reader:ident $unit:ident $json:expr) => { $reader.scope(&$json)? };
    (write [scope] $known:ident $value:expr) => { $known.scope_ref($value) };

    (type [file]) => { Ref<'a> };
    (read [file] $reader:ident $unit:ident $json:expr) => { $reader.file($unit, &$json)? };
    (write [file] $known:ident $value:expr) => { $known.file_ref($value) };

    (type [region]) => { Ref<'a> };
    (read [region] $reader:ident $unit:ident $json:expr) => { $reader.names.regions.find((), &$json)? };
    (write [region] $known:ident $value:expr) => { $known.region_ref($value) };

    (type [procedure]) => { Ref<'a> };
    (read [procedure] $reader:ident $unit:ident $json:expr) => { $reader.names.procedures.find((), &$json)? };
    (write [procedure] $known:ident $value:expr) => { $known.procedure_ref($value) };

    (type [symbol]) => { Text<'a> };
    (read [symbol] $reader:ident $unit:ident $json:expr) => { $reader.builder.symbol(&$json) };
    (write [symbol] $known:ident $value:expr) => { $known.text($value.0) };

    (type [symbol_name]) => { Text<'a> };
    (read [symbol_name] $reader:ident $unit:ident $json:expr) => { &*$json };
    (write [symbol_name] $known:ident $value:expr) => { $known.text($value.0) };

    (type [variable]) => { Ref<'a> };
    (read [variable] $reader:ident $unit:ident $json:expr) => { $reader.names.variables.find((), &$json)? };
    (write [variable] $known:ident $value:expr) => { $known.variable_ref($value) };

    (type [variant]) => { Ref<'a> };
    (read [variant] $reader:ident $unit:ident $json:expr) => { $reader.names.variants.find((), &$json)? };
    (write [variant] $known:ident $value:expr) => { $known.variant_ref($value) };

    (type [loc]) => { Loc<'a> };
    (read [loc] $reader:ident $unit:ident $json:expr) => { &$reader.whole::<$crate::model::Loc, _>($unit, &$json)? };
    (write [loc] $known:ident $value:expr) => { Later::Model(Place { known: $known, loc: $value }) };

    (type [owned loc]) => { Loc<'a> };
    (read [owned loc] $reader:ident $unit:ident $json:expr) => { $reader.whole($unit, &$json)? };
    (write [owned loc] $known:ident $value:expr) => { kind!(write [loc] $known $value) };

    (type [val]) => { Val<'a> };
    (read [val] $reader:ident $unit:ident $json:expr) => { $reader.whole::<$crate::model::Val, _>($unit, &$json)? };
    (write [val] $known:ident $value:expr) => { Later::Model(NumberAt(Place { known: $known, loc: $value })) };

    (type [loc_val]) => { (Loc<'a>, Val<'a>) };
    (read [loc_val] $reader:ident $unit:ident $json:expr) => {
        ($reader.whole($unit, &$json.0)?, $reader.whole($unit, &$json.1)?)
    };
    (write [loc_val] $known:ident $value:expr) => {
        (kind!(write [loc] $known $value.0), kind!(write [val] $known $value.1))
    };

    (type [expression]) => { Later<'a, ExpressionAt<'a>> };
    (read [expression] $reader:ident $unit:ident $json:expr) => { $reader.whole($unit, &$json)? };
    (write [expression] $known:ident $value:expr) => { Later::Model(ExpressionAt(Place { known: $known, loc: $value })) };

    (type [raw]) => { Expression<'a> };
    (read [raw] $reader:ident $unit:ident $json:expr) => { expression::read($reader, $unit, $json)? };
    (write [raw] $known:ident $value:expr) => { expression::write($known, $value) };

    (type [object $object:ident]) => { $crate::json::statement::$object<'a> };
    (read [object $object:ident] $reader:ident $unit:ident $json:expr) => { $json };
    (write [object $object:ident] $known:ident $value:expr) => { $crate::json::statement::$object::write($known, &$value) };

    (type [argument]) => { TemplateArgument<'a> };
    (read [argument] $reader:ident $unit:ident $json:expr) => { &mut $json };
    (write [argument] $known:ident $value:expr) => { TemplateArgument::write($known, &$value) };

    (type [by $type:ty]) => { $type };
    (type [initial $type:ty]) => { $type };

    (may_read $kind:tt $reader:ident $unit:ident $json:expr) => {
        match $json {
            Some(json) => Some(kind!(read $kind $reader $unit json)),
            None => None,
        }
    };
    (may $kind:tt $known:ident $field:expr) => { $field.map(|value| kind!(write $kind $known value)) };
}

pub(super) use kind;
