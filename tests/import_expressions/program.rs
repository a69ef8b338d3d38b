use std::collections::*; 
#[derive(Debug,Clone)] enum E{A(u8),B(String),C{x:u64,y:i16}}
fn f(v:&[E])->HashMap<String,u64>{ let mut m=HashMap::new(); for e in v{ match e{E::A(b)=>{*m.entry("a".to_string()).or_insert(0)+=*b as u64;}E::B(s)=>{*m.entry(s.clone()).or_insert(0)+=s.len() as u64;}E::C{x,y}=>{m.insert(format!("{y}"),x.wrapping_mul(*y as u64));}}} m}
fn main(){ let a:Vec<String>=std::env::args().collect(); let mut v:Vec<E>=a.iter().map(|s|if s.len()%3==0{E::A(s.len() as u8)}else if s.len()%3==1{E::B(s.clone())}else{E::C{x:s.len() as u64,y:3}}).collect(); v.sort_by_key(|e|format!("{e:?}")); let m=f(&v); let mut t:BTreeMap<_,_>=m.into_iter().collect(); t.insert("z".into(),1); println!("{t:?}"); let s:f64=t.values().map(|&x|x as f64).sum(); println!("{s}"); }
