//! The elements and attributes of SVG that draw and do nothing else.

/// Elements that are kept. A link is kept as a group: its content is drawn, it leads nowhere.
const ELEMENTS: &[&str] = &[
    "a",
    "animate",
    "animateMotion",
    "animateTransform",
    "circle",
    "clipPath",
    "defs",
    "desc",
    "ellipse",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "filter",
    "g",
    "image",
    "line",
    "linearGradient",
    "marker",
    "mask",
    "mpath",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "set",
    "stop",
    "svg",
    "switch",
    "symbol",
    "text",
    "textPath",
    "title",
    "tspan",
    "use",
    "view",
];

/// Properties of a style that are attributes, too.
const PROPERTIES: &[&str] = &[
    "alignment-baseline",
    "baseline-shift",
    "clip",
    "clip-path",
    "clip-rule",
    "color",
    "color-interpolation",
    "color-interpolation-filters",
    "cursor",
    "direction",
    "display",
    "dominant-baseline",
    "fill",
    "fill-opacity",
    "fill-rule",
    "filter",
    "flood-color",
    "flood-opacity",
    "font",
    "font-family",
    "font-size",
    "font-size-adjust",
    "font-stretch",
    "font-style",
    "font-variant",
    "font-weight",
    "image-rendering",
    "letter-spacing",
    "lighting-color",
    "marker",
    "marker-end",
    "marker-mid",
    "marker-start",
    "mask",
    "mix-blend-mode",
    "opacity",
    "overflow",
    "paint-order",
    "pointer-events",
    "shape-rendering",
    "stop-color",
    "stop-opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "text-decoration",
    "text-rendering",
    "transform",
    "transform-origin",
    "unicode-bidi",
    "vector-effect",
    "visibility",
    "white-space",
    "word-spacing",
    "writing-mode",
];

/// Attributes that are kept beside the properties.
const ATTRIBUTES: &[&str] = &[
    "accumulate",
    "additive",
    "amplitude",
    "attributeName",
    "attributeType",
    "azimuth",
    "baseFrequency",
    "begin",
    "bias",
    "by",
    "calcMode",
    "class",
    "clipPathUnits",
    "cx",
    "cy",
    "d",
    "diffuseConstant",
    "divisor",
    "dur",
    "dx",
    "dy",
    "edgeMode",
    "elevation",
    "end",
    "exponent",
    "filterUnits",
    "fr",
    "from",
    "fx",
    "fy",
    "gradientTransform",
    "gradientUnits",
    "height",
    "id",
    "in",
    "in2",
    "intercept",
    "k1",
    "k2",
    "k3",
    "k4",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lang",
    "lengthAdjust",
    "limitingConeAngle",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "maskContentUnits",
    "maskUnits",
    "max",
    "method",
    "min",
    "mode",
    "numOctaves",
    "offset",
    "operator",
    "order",
    "orient",
    "origin",
    "path",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "points",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "r",
    "radius",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredFeatures",
    "restart",
    "result",
    "role",
    "rotate",
    "rx",
    "ry",
    "scale",
    "seed",
    "side",
    "slope",
    "spacing",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "textLength",
    "to",
    "type",
    "values",
    "version",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "xChannelSelector",
    "y",
    "y1",
    "y2",
    "yChannelSelector",
    "z",
    "zoomAndPan",
];

/// Whether an element is kept.
pub(super) fn is_element(name: &str) -> bool {
    ELEMENTS.contains(&name)
}

/// Whether an element animates an attribute.
pub(super) fn is_animation(name: &str) -> bool {
    matches!(name, "animate" | "animateMotion" | "animateTransform" | "set")
}

/// Whether a property of a style is kept.
pub(super) fn is_property(name: &str) -> bool {
    PROPERTIES.contains(&name)
}

/// Whether an attribute without a namespace is kept. References have rules of their own.
pub(super) fn is_attribute(name: &str) -> bool {
    PROPERTIES.contains(&name) || ATTRIBUTES.contains(&name) || name.starts_with("aria-")
}

/// Whether a value refers to nothing outside the document: each `url(…)` is of a fragment.
pub(super) fn is_local_value(value: &str) -> bool {
    // A backslash can spell any name in a style.
    if value.contains(['\\', '\0']) {
        return false;
    }
    let lower = value.to_ascii_lowercase();
    if ["javascript:", "vbscript:", "expression(", "image(", "image-set(", "src(", "@import"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return false;
    }
    lower.split("url(").skip(1).all(|rest| {
        let rest = rest.trim_start().trim_start_matches(['"', '\'']);
        rest.starts_with('#')
    })
}

/// Whether an image may be drawn from a reference: a fragment, or data of a raster image.
pub(super) fn is_safe_image(reference: &str) -> bool {
    let kinds = ["png", "jpeg", "jpg", "gif", "webp"];
    let Some(rest) = reference.get(..11).filter(|head| head.eq_ignore_ascii_case("data:image/"))
    else {
        return false;
    };
    let rest = &reference[rest.len()..];
    let Some((kind, rest)) = rest.split_once(';') else { return false };
    kinds.iter().any(|safe| kind.eq_ignore_ascii_case(safe)) && rest.starts_with("base64,")
}

#[cfg(test)]
mod tests {
    use super::{is_local_value, is_safe_image};

    #[test]
    fn only_values_without_outside_references_are_local() {
        assert!(is_local_value("url(#a)") && is_local_value("url( \"#a\" ) red"));
        let outside = [
            "url(http://a/)",
            "url(//a)",
            "URL('x.svg#a')",
            "url(#a) url(b)",
            "u\\72l(b)",
            "image-set('a.png' 1x)",
        ];
        assert!(!outside.into_iter().any(is_local_value));
    }

    #[test]
    fn only_raster_images_in_the_document_are_drawn() {
        assert!(is_safe_image("data:image/png;base64,AA=="));
        let unsafe_ones = [
            "data:image/svg+xml;base64,AA==",
            "data:text/html,x",
            "http://a/b.png",
            "b.png",
            "data:image/png,raw",
        ];
        assert!(!unsafe_ones.into_iter().any(is_safe_image));
    }
}
