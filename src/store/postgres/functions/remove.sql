-- Removes jobs in any state. Answers with the numbers of those that existed, in the order given.

create function carillon.remove(p_ids text[], p_records json, p_now bigint)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_seqs bigint[];
  v_there bigint[];
  v_waits bigint[];
  v_taken bigint[] := '{}';
begin
  -- For the turns it takes: those that conflict are left out one by one.
    if p_records is not null then perform carillon.records_fit(p_records, p_now);
end if;
v_seqs := array(select j.seq from unnest(p_ids) with ordinality g (id, n)
    left join carillon.jobs j on j.id = g.id order by g.n);
for i in 1 .. 10 loop
  -- Whoever takes what a job waits for has it; one that is being claimed is met again.
    v_taken := v_taken || carillon.take(v_seqs);
  perform 1 from carillon.jobs j where j.seq = any (v_seqs) order by j.seq for update;
  v_there := array(select j.seq from carillon.jobs j where j.seq = any (v_seqs));
  v_waits := array(select j.seq from carillon.jobs j where j.seq = any (v_seqs)
      and j.seq <> all (v_taken) and case j.state when 0 then j.due_at is not null
      when 1 then false when 2 then j.until_at is not null
      else j.expire_at is not null end);
  exit when cardinality(v_waits) = 0;
end loop;
if cardinality(v_waits) > 0 then
  raise exception 'jobs changed while they were removed'
    using errcode = 'serialization_failure';
end if;
if cardinality(v_there) > 0 then
  perform carillon.drop(v_there, -1::smallint);
  if p_records is not null then
    perform carillon.records_write(p_records, p_now);
  end if;
end if;
return array(select case when g.seq = any (v_there) then g.seq end
    from unnest(v_seqs) with ordinality g (seq, n) order by g.n);
end $$;
