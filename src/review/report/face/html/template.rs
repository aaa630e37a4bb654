//! A text with places to be filled.

/// Fills each `{{name}}` of a template. What is put in is not looked at again.
pub(super) fn fill(template: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, behind)) = behind.split_once("}}") else { break };
        filled.push_str(before);
        filled.push_str(&value(name));
        rest = behind;
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_filled_again() {
        let filled = fill("a {{x}} b {{y}}{{x}}", &|name| format!("<{name} {{{{y}}}}>"));

        assert_eq!(filled, "a <x {{y}}> b <y {{y}}><x {{y}}>");
    }
}
