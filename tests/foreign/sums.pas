program sums;
type
  item = record
    weight: integer;
    name: string[20];
  end;

function total(count: integer; var what: item): integer;
var
  i: integer;
begin
  total := 0;
  for i := 1 to count do
    total := total + i * what.weight;
end;

var
  q: item;
begin
  q.weight := 3;
  q.name := 'three';
  writeln(total(4, q), q.name);
end.
