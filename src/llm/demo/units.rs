//! Units of measure as people write them, and as `calculate` accepts them.

/// One unit per line: the calculator's name, then the spellings that people use. Compared case-insensitively.
const TABLE: &str = "km kilometers kilometres kilometer kilometre
m meters metres meter metre
cm centimeters centimetres centimeter
mm millimeters millimetres
miles mile mi
yards yard yd
feet ft foot
inches inch
kg kilograms kilogram kilos kilo
g grams gram
lb pounds lbs
oz ounces ounce
liters litres liter litre l
ml milliliters millilitres
gallons gallon
seconds second secs sec s
minutes minute mins min
hours hour hrs h
days day
weeks week
months month
years year
kWh
Wh
MJ megajoules
kJ kilojoules
J joules joule
kcal kilocalories
W watts
kW kilowatts
km/h kph kmh
m/s
mph
knots knot
celsius °c
fahrenheit °f
kelvin
bytes byte
KB kilobytes
MB megabytes
GB gigabytes
TB terabytes
KiB
MiB
GiB
bits bit
Mbit/s mbps
hectares hectare ha
acres acre
psi
degrees
radians";

/// The calculator's name of a unit.
pub(super) fn canonical(word: &str) -> Option<&'static str> {
    TABLE.lines().find_map(|line| {
        let mut names = line.split(' ');
        let first = names.next()?;
        (first.eq_ignore_ascii_case(word) || names.any(|name| name.eq_ignore_ascii_case(word))).then_some(first)
    })
}

/// Whether a word is a unit of measure or a currency.
pub(super) fn is_unit(word: &str) -> bool {
    canonical(word).is_some() || is_money(word)
}

pub(super) fn is_length(unit: &str) -> bool {
    matches!(unit, "km" | "m" | "cm" | "mm" | "miles" | "yards" | "feet" | "inches")
}

pub(super) fn is_speed(unit: &str) -> bool {
    matches!(unit, "km/h" | "m/s" | "mph" | "knots" | "Mbit/s")
}

/// Money has no unit in the calculator; the currency is named next to the result.
pub(super) fn is_money(word: &str) -> bool {
    ["eur", "euro", "euros", "usd", "dollars", "gbp", "chf", "sek", "nok", "dkk", "jpy", "€", "$", "£"]
        .iter()
        .any(|money| money.eq_ignore_ascii_case(word))
}
