-- Progress, checkpoints and log lines of running attempts. Locks the jobs, so that none is settled meanwhile.

create function carillon.report(p_reports json, p_now bigint)
returns boolean[]
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  v_seq bigint;
  v_count int;
  v_results boolean[] := '{}';
begin
  perform 1 from carillon.jobs j where j.id = any (array(
        select g.id from json_to_recordset(p_reports) g (id text))) order by j.seq
    for no key update;
  for r in select * from json_to_recordset(p_reports) g (id text, token text, fence bigint,
      attempt text, tells boolean, fraction double precision, note text, checkpoint text,
      lines json) loop
    select j.seq into v_seq from carillon.jobs j
      where j.id = r.id and j.token = r.token and j.fence = r.fence;
    v_results := v_results || (v_seq is not null);
    if v_seq is null then
      continue;
    end if;
    if r.tells or r.checkpoint is not null then
      insert into carillon.progress as p
        values (v_seq, r.attempt, r.fraction, r.note, r.checkpoint, p_now)
        on conflict (job) do update set attempt = excluded.attempt, at = excluded.at,
        fraction = case when r.tells then excluded.fraction
        when p.attempt = excluded.attempt then p.fraction end,
        note = case when r.tells then excluded.note
        when p.attempt = excluded.attempt then p.note end,
        checkpoint = coalesce(excluded.checkpoint, p.checkpoint);
    end if;
    if r.lines is not null then
      v_count := coalesce((select l.n + 1 from carillon.logs l where l.attempt = r.attempt
            order by l.n desc limit 1), 0);
      insert into carillon.logs select v_seq, r.attempt, v_count + k.i - 1,
        (k.line ->> 0)::bigint, k.line ->> 1, k.line ->> 2, k.line ->> 3
        from json_array_elements(r.lines) with ordinality k (line, i)
        where v_count + k.i - 1 < 1000;
    end if;
  end loop;
  return v_results;
end $$;
