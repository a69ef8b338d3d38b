//! Parameters of templates.

use eitri::build::Template;
use eitri::model::{Loc, TypeId, Val};

use super::{Call, Owner, nothing_is_lost};

/// A class that is the instance of a template.
const CLASS: [Owner<TypeId>; 1] =
    [Owner::new("a class", |case| case.m.class(case.unit, Some("C"), 8).unwrap())];

const TEMPLATES: &[Call<TypeId>] = &[
    Call::new("Template::ty", 4, |case, ty, way| {
        let int = case.int();
        let uint = case.uint();
        let all = [
            Template::ty("T", None),
            Template::ty("T", Some(int)),
            Template::ty("T", Some(uint)),
            Template::ty("U", Some(int)),
            Template::ty("", Some(int)),
        ];
        case.m.template(ty, all[way].clone())?;
        Ok(())
    }),
    Call::new("Template::value", 3, |case, ty, way| {
        let int = case.int();
        let uint = case.uint();
        let all = [
            Template::value("N", int, &[1, 0, 0, 0]),
            Template::value("N", int, &[2, 0, 0, 0]),
            Template::value("N", uint, &[1, 0, 0, 0]),
            Template::ty("N", Some(int)),
        ];
        case.m.template(ty, all[way].clone())?;
        Ok(())
    }),
    Call::new("Template::value_at", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.template(ty, Template::value_at("N", int, Loc::value(Val::constant(3))))?;
        }
        Ok(())
    }),
    Call::new("Template::named", 3, |case, ty, way| {
        let all = [None, Some(("F", "vector")), Some(("F", "list")), Some(("G", "vector"))];
        if let Some((name, of)) = all[way] {
            case.m.template(ty, Template::named(name, of))?;
        }
        Ok(())
    })
    .of("mode cannot encode this"),
    Call::new("Template::pack", 5, |case, ty, way| {
        let int = Template::ty("", Some(case.int()));
        let all = [
            None,
            Some(Template::pack("P", [])),
            Some(Template::pack("P", [int.clone()])),
            Some(Template::pack("P", [int.clone(), int.clone()])),
            Some(Template::pack("Q", [int.clone()])),
            Some(Template::pack("P", [int.clone(), Template::named("F", "vector")])),
        ];
        if let Some(pack) = all[way].clone() {
            case.m.template(ty, pack)?;
        }
        Ok(())
    }),
    Call::new("Template::default", 1, |case, ty, way| {
        let parameter = Template::ty("T", Some(case.int()));
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    }),
    Call::new("Template::default, of a pack", 1, |case, ty, way| {
        let parameter = Template::pack("P", [Template::ty("T", Some(case.int()))]);
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    }),
    Call::new("Template::default, of a template", 1, |case, ty, way| {
        let parameter = Template::named("F", "vector");
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    })
    .of("mode cannot encode this"),
];

#[test]
fn template_properties_are_written_or_listed() {
    nothing_is_lost(&CLASS, TEMPLATES);
}
