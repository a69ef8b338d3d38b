//! The data in a page of `report`.

use std::io::Read;

/// Returns the data of a page, decoded as RFC 4648 section 4 and RFC 1950 specify.
pub fn data(page: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (_, rest) = page.split_once(r#"data-packing="deflate">"#).expect("packed data");
    let (text, _) = rest.split_once('<').expect("an end tag");
    let digits = text
        .bytes()
        .filter(|&byte| byte != b'=')
        .map(|byte| DIGITS.iter().position(|&digit| digit == byte).expect("a digit of base 64") as u32);
    let mut packed = Vec::new();
    let (mut bits, mut count) = (0, 0);
    for digit in digits {
        (bits, count) = (bits << 6 | digit, count + 6);
        if count >= 8 {
            count -= 8;
            packed.push((bits >> count) as u8);
        }
    }
    let mut data = Vec::new();
    flate2::read::ZlibDecoder::new(&*packed).read_to_end(&mut data).expect("packed data");
    data
}
