//! Python's values as JSON text.

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyRange, PyString, PyTuple,
};

/// Number of values in each other, from which a value counts as endless. The library's limits are lower.
const DEEPEST: usize = 10_000;

/// Writes a value as JSON text: as `json.dumps` does, with bytes as hexadecimal digits, ranges as their bounds, and whatever
/// `convert` returns for values of other types.
#[pyfunction]
pub fn to_json<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    convert: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut writer = Writer { text: Vec::new(), convert };
    writer.whole(value)?;
    Ok(PyBytes::new(py, &writer.text))
}

/// A list or a dictionary that is partly written. These are in a list, so that deep values need no recursion.
enum Open<'py> {
    List {
        list: Bound<'py, PyList>,
        next: usize,
    },
    Tuple {
        tuple: Bound<'py, PyTuple>,
        next: usize,
    },
    /// A copy of the items, because `convert` can change the dictionary.
    Dictionary {
        items: Bound<'py, PyList>,
        next: usize,
    },
    /// A dictionary with one item, as most are.
    Single(Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>),
}

struct Writer<'w, 'py> {
    text: Vec<u8>,
    /// Makes a value of a known type from any other value.
    convert: &'w Bound<'py, PyAny>,
}

impl<'py> Writer<'_, 'py> {
    fn whole(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let mut open = Vec::new();
        open.extend(self.begin(value)?);
        while let Some(innermost) = open.last_mut() {
            match self.next(innermost)? {
                Some(value) => {
                    open.extend(self.begin(&value)?);
                    if open.len() > DEEPEST {
                        return Err(PyRecursionError::new_err(format!(
                            "more than {DEEPEST} values are in each other; expected a value that ends"
                        )));
                    }
                }
                None => drop(open.pop()),
            }
        }
        Ok(())
    }

    /// Writes a value, or the beginning of a list or dictionary.
    fn begin(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Open<'py>>> {
        if let Some(open) = self.begin_known(value)? {
            return Ok(open);
        }
        let known = self.convert.call1((value,))?;
        self.begin_known(&known)?
            .ok_or_else(|| PyTypeError::new_err("a value was converted to a value that JSON lacks"))
    }

    /// Returns `None` for a value of an unknown type.
    fn begin_known(&mut self, value: &Bound<'py, PyAny>) -> PyResult<Option<Option<Open<'py>>>> {
        // Most values are texts and numbers. A look at the exact type takes no call of the interpreter.
        if let Ok(number) = value.cast_exact::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(text) = value.cast::<PyString>() {
            self.string(text)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.text.push(b'[');
            return Ok(Some(Some(Open::List { list: list.clone(), next: 0 })));
        } else if let Ok(keys) = value.cast::<PyDict>() {
            self.text.push(b'{');
            return Ok(Some(Some(if keys.len() == 1 {
                Open::Single(keys.iter().next())
            } else {
                Open::Dictionary { items: keys.items(), next: 0 }
            })));
        } else if let Ok(is_true) = value.cast::<PyBool>() {
            self.text.extend_from_slice(if is_true.is_true() { b"true" } else { b"false" });
        } else if let Ok(number) = value.cast::<PyInt>() {
            self.integer(number)?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.text.push(b'[');
            return Ok(Some(Some(Open::Tuple { tuple: tuple.clone(), next: 0 })));
        } else if value.is_none() {
            self.text.extend_from_slice(b"null");
        } else if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            if !number.is_finite() {
                return Err(PyValueError::new_err(format!("{number} is not a number of JSON")));
            }
            self.plain(&number)?;
        } else if value.is_instance_of::<PyBytes>()
            || value.is_instance_of::<PyByteArray>()
            || value.is_instance_of::<PyMemoryView>()
        {
            let digits = value.call_method0("hex")?;
            self.string(digits.cast::<PyString>()?)?;
        } else if let Some(bounds) = bounds(value)? {
            self.text.push(b'[');
            self.range(&bounds)?;
            self.text.push(b']');
        } else {
            return Ok(None);
        }
        Ok(Some(None))
    }

    /// Returns the next value in a list or dictionary, or ends it.
    fn next(&mut self, open: &mut Open<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match open {
            Open::List { list, next } => {
                let list = &*list;
                self.item(list.len(), next, |index| list.get_item(index))
            }
            Open::Tuple { tuple, next } => {
                let tuple = &*tuple;
                self.item(tuple.len(), next, |index| tuple.get_item(index))
            }
            Open::Dictionary { items, next } => {
                if *next == items.len() {
                    self.text.push(b'}');
                    return Ok(None);
                }
                if *next > 0 {
                    self.text.push(b',');
                }
                let (key, value) = items.get_item(*next)?.extract()?;
                *next += 1;
                self.key(&key)?;
                Ok(Some(value))
            }
            Open::Single(item) => match item.take() {
                Some((key, value)) => {
                    self.key(&key)?;
                    Ok(Some(value))
                }
                None => {
                    self.text.push(b'}');
                    Ok(None)
                }
            },
        }
    }

    /// Returns the next item of a list. A range before another kind of value stands for two items, as in a live range,
    /// `[range(0, 8), …]`.
    fn item(
        &mut self,
        count: usize,
        next: &mut usize,
        item: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if *next >= count {
            self.text.push(b']');
            return Ok(None);
        }
        let mut value = item(*next)?;
        if *next == 0
            && count > 1
            && let Some(pair) = bounds(&value)?
        {
            let second = item(1)?;
            if bounds(&second)?.is_none() {
                self.range(&pair)?;
                *next = 1;
                value = second;
            }
        }
        if *next > 0 {
            self.text.push(b',');
        }
        *next += 1;
        Ok(Some(value))
    }

    fn key(&mut self, key: &Bound<'py, PyAny>) -> PyResult<()> {
        let Ok(name) = key.cast::<PyString>() else {
            let kind = key.get_type();
            return Err(PyTypeError::new_err(format!("a key is {}; expected a text", kind.name()?)));
        };
        self.string(name)?;
        self.text.push(b':');
        Ok(())
    }

    fn range(&mut self, [start, stop]: &[Bound<'py, PyInt>; 2]) -> PyResult<()> {
        self.integer(start)?;
        self.text.push(b',');
        self.integer(stop)
    }

    fn string(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        let text = text.to_str()?;
        if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
            self.text.push(b'"');
            self.text.extend_from_slice(text.as_bytes());
            self.text.push(b'"');
            return Ok(());
        }
        self.plain(text)
    }

    fn integer(&mut self, number: &Bound<'py, PyInt>) -> PyResult<()> {
        if let Ok(number) = number.extract::<i64>() {
            return self.plain(&number);
        }
        // Subclasses can have another text.
        let number = number.py().get_type::<PyInt>().call1((number,))?;
        self.text.extend_from_slice(number.str()?.to_str()?.as_bytes());
        Ok(())
    }

    /// Writes a value that the library for JSON knows.
    fn plain(&mut self, value: &(impl serde::Serialize + ?Sized)) -> PyResult<()> {
        serde_json::to_writer(&mut self.text, value).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// Returns the bounds of a range; `None` for any other value.
fn bounds<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<[Bound<'py, PyInt>; 2]>> {
    let Ok(range) = value.cast_exact::<PyRange>() else { return Ok(None) };
    let step = value.getattr("step")?;
    if !step.eq(1)? {
        return Err(PyValueError::new_err(format!("{} has the step {step}; expected 1", range.repr()?)));
    }
    let bound = |name| Ok::<_, PyErr>(value.getattr(name)?.cast_into::<PyInt>()?);
    Ok(Some([bound("start")?, bound("stop")?]))
}
