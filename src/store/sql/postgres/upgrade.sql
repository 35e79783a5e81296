-- From the layout before this one (schema versions 9 to 12) to the baseline, which is put in the place of the
-- line below: in one transaction, so that the schema holds all of the old or all of the new. State was one
-- list of JSON by position; texts of JSON are taken over as they are written.

do $$
declare
  one record;
begin
  for one in select p.oid::regprocedure as name from pg_catalog.pg_proc p
      where p.pronamespace = (select c.relnamespace from pg_catalog.pg_class c
        where c.oid = 'carillon.jobs'::regclass) loop
    execute format('drop function %s cascade', one.name);
  end loop;
  for one in select c.oid::regclass as name, c.relname, c.relkind from pg_catalog.pg_class c
      where c.relnamespace = (select b.relnamespace from pg_catalog.pg_class b
        where b.oid = 'carillon.jobs'::regclass) and c.relkind in ('r', 'i', 'S') loop
    execute format('alter %s %s rename to %I', case one.relkind when 'r' then 'table'
      when 'i' then 'index' else 'sequence' end, one.name, 'earlier_' || one.relname);
  end loop;
end $$;

-- baseline

-- As src/store/shared/text.ts writes keys.
create function carillon.earlier_key(p_text text) returns text language plpgsql immutable as $$
declare
  v_key text := '';
  v_code int;
begin
  if p_text ~ '^[\u0002-\ud7ff]*$' then
    return p_text;
  end if;
  foreach v_code in array array(select ascii(c) from regexp_split_to_table(p_text, '') c) loop
    v_key := v_key || case
      when v_code < 2 then E'\x01' || chr(v_code + 1)
      when v_code < 55296 then chr(v_code)
      when v_code < 65536 then chr(65536 + v_code - 55296)
      else chr(65536 + (v_code - 65536) / 1024) || chr(65536 + 1024 + (v_code - 65536) % 1024)
    end;
  end loop;
  return v_key;
end $$;

-- The members of an object but for one, as they are written.
create function carillon.earlier_members(p_object json, p_without text) returns text
language sql immutable as $$
  select string_agg(to_json(m.key)::text || ':' || m.value::text, ',')
    from json_each(p_object) m where m.key <> p_without
$$;

-- A name that is the handler's was not written. Specs that do not decode are read as damaged.
create function carillon.earlier_name(p_spec text, p_handler text) returns text
language plpgsql immutable as $$
begin
  return coalesce(carillon.earlier_key(p_spec::json ->> 'name'), p_handler);
exception when others then
  return p_handler;
end $$;

-- A body that is no list stays as it is: the job is read as damaged.
create function carillon.earlier_detail(p_body text) returns text language plpgsql immutable as $$
declare
  b json;
  v_outcomes text[] := '{succeeded,failed,timedOut,cancelled,abandoned,interrupted,skipped,deferred,released}';
  v_reasons text[] := '{completed,exhausted,final,crash_loop,missed,cancelled,archived,invalid,damaged}';
  -- Before series had sums, a firing was kept as a last attempt that was released.
  v_is_firing boolean;
begin
  b := p_body::json;
  v_is_firing := coalesce(b ->> 15, '') = '8';
  if json_array_length(b) < 21 then
    return p_body;
  end if;
  return '{' || concat_ws(',', '"updatedAt":' || (b ->> 19), '"revision":' || (b ->> 20),
    '"nextAt":' || (b ->> 1), '"retryAt":' || (b ->> 2), '"backlog":' || nullif(b ->> 3, '0'),
    '"missed":' || nullif(b ->> 4, '0'), '"runs":' || nullif(b ->> 5, '0'),
    '"concluded":' || nullif(b ->> 6, '0'),
    format('"totals":{"succeeded":%s,"failed":%s,"cancelled":%s,"other":%s,"skipped":%s,"durationMs":%s}',
      b ->> 7, b ->> 8, b ->> 9, b ->> 10, b ->> 11, b ->> 12),
    case when v_is_firing then format('"series":{"firedAt":%s,"totals":{"succeeded":0,"failed":0,'
      '"cancelled":0,"other":0,"skipped":0,"durationMs":0}}', b ->> 13) end,
    case when b ->> 13 is not null and not v_is_firing then
      format('"last":{"startedAt":%s,"finishedAt":%s,"outcome":"%s","succeededAt":%s}',
        b ->> 13, b ->> 14, v_outcomes[(b ->> 15)::int + 1], coalesce(b ->> 16, 'null')) end,
    case when b ->> 17 is not null then format('"ended":{%s}', concat_ws(',', '"at":' || (b ->> 17),
      format('"reason":"%s"', v_reasons[(b ->> 18)::int + 1]),
      '"note":' || (b -> 21 -> 'endedNote')::text)) end,
    carillon.earlier_members(b -> 21, 'endedNote')) || '}';
exception when others then
  return p_body;
end $$;

insert into carillon.jobs
  select j.seq, j.id, (array['job', 'task'])[j.kind + 1], j.series, h.tenant, l.queue, l.handler, j.lane,
    carillon.earlier_name(x.spec, l.handler), x.app, x.definition, x.declared, coalesce(x.spec, ''),
    coalesce(x.created_at, 0)
  from carillon.earlier_jobs j join carillon.earlier_lines l on l.id = j.line
  join carillon.earlier_shares h on h.id = j.share
  left join carillon.earlier_specs x on x.seq = j.seq order by j.seq;
select setval('carillon.jobs_seq_seq', s.last_value, s.is_called) from carillon.earlier_jobs_seq s;

insert into carillon.job_states (seq, queue, handler, lane, kind, state, waiting_for, ready, rank, due_at,
    until_at, expire_at, attempts, fence, version, token, owner, attempt_id, claimed_at, detail)
  select j.seq, l.queue, l.handler, j.lane, (array['job', 'task'])[j.kind + 1],
    (array['waiting', 'running', 'paused', 'completed', 'failed', 'cancelled'])[j.state + 1],
    case substr(j.body, 2, 1) when '1' then 'firing' when '2' then 'retry' else 'start' end,
    case when j.state = 0 and j.due_at is not null then 0 end,
    case when j.state = 0 and j.due_at is not null then j.rank end,
    case when j.state = 0 then j.due_at end, j.until_at, j.expire_at, j.attempts, j.fence, j.version,
    j.token, j.owner, j.attempt_id, j.claimed_at, carillon.earlier_detail(j.body)
  from carillon.earlier_jobs j join carillon.earlier_lines l on l.id = j.line order by j.seq;

insert into carillon.attempts
  select a.id, a.job, a.number, a.run, (b.v ->> 0)::bigint, (b.v ->> 1)::bigint, (b.v ->> 2)::bigint,
    (array['schedule', 'manual', 'retry', 'backfill'])[(b.v ->> 5)::int + 1], (b.v ->> 6)::bigint,
    (b.v ->> 7)::bigint, (b.v ->> 3)::bigint, carillon.earlier_key(b.v ->> 8), a.claimed_at,
    (b.v ->> 4)::bigint, a.finished_at,
    (array['succeeded', 'failed', 'timedOut', 'cancelled', 'abandoned', 'interrupted', 'skipped',
      'deferred', 'released'])[a.outcome + 1],
    coalesce((b.v -> 9 ->> 'clockEpoch')::bigint, 0), a.expire_at, 0,
    '{' || carillon.earlier_members(b.v -> 9, 'clockEpoch') || '}'
  from carillon.earlier_attempts a cross join lateral (select a.body::json as v) b order by a.id;

insert into carillon.skips
  select job, first_at, last_at, count, reason, 0, expire_at from carillon.earlier_skips;
insert into carillon.progress
  select job, attempt, fraction, note, checkpoint, at from carillon.earlier_progress;
insert into carillon.log_lines
  select attempt, n, job, at, level, message, fields from carillon.earlier_logs;
insert into carillon.records
  select kind, key, value, version, expire_at from carillon.earlier_records;
insert into carillon.queues
  select queue, paused::int, cursor, taken from carillon.earlier_queues;
insert into carillon.job_counts
  select h.tenant, l.queue, l.handler, (array['job', 'task'])[h.kind + 1],
    (array['waiting', 'running', 'paused', 'completed', 'failed', 'cancelled'])[c.state + 1], c.n, c.pruned
  from carillon.counted c join carillon.earlier_shares h on h.id = c.share
  join carillon.earlier_lines l on l.id = h.line where c.n <> 0 or c.pruned <> 0;
insert into carillon.lane_running select lane, seq, token from carillon.earlier_capped;
insert into carillon.lane_rates select lane, whole_at from carillon.earlier_rates;

do $$
declare
  one record;
begin
  drop view carillon.counted;
  for one in select p.oid::regprocedure as name from pg_catalog.pg_proc p
      where p.pronamespace = (select c.relnamespace from pg_catalog.pg_class c
        where c.oid = 'carillon.jobs'::regclass) loop
    execute format('drop function %s', one.name);
  end loop;
  for one in select c.oid::regclass as name, c.relkind from pg_catalog.pg_class c
      where c.relnamespace = (select b.relnamespace from pg_catalog.pg_class b
        where b.oid = 'carillon.jobs'::regclass) and c.relname like 'earlier\_%'
        and (c.relkind = 'r' or c.relkind = 'S' and c.relname in ('earlier_jobs_seq', 'earlier_deltas_seq')) loop
    execute format('drop %s %s', case one.relkind when 'r' then 'table' else 'sequence' end, one.name);
  end loop;
end $$;
