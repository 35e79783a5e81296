-- Retention: bounded batches of what has expired, oldest first. Nodes that prune at once skip each
-- other's rows.

create function carillon.prune(p_now bigint, p_limit int, p_skips int, p_ended_max bigint)
returns table (attempts bigint, seen int, skips bigint, jobs bigint, records bigint)
language plpgsql as $$
#variable_conflict use_column
declare
  r record;
  v_seen int := 0;
  v_tids tid[] := '{}';
  v_mark text;
  v_next text;
  v_gone text[];
  v_seqs bigint[];
  v_attempts bigint := 0;
  v_jobs bigint := 0;
  v_skips bigint := 0;
  v_records bigint := 0;
begin
  for r in select a.ctid as tid, a.id, a.job, a.number from carillon.attempts a
    where a.odd = 1 and a.expire_at <= p_now order by a.expire_at limit p_limit
    for update skip locked loop
    v_seen := v_seen + 1;
    v_tids := v_tids || r.tid;
  end loop;
  select m.value into v_mark from carillon.marks m
      where m.name = 'attempts pruned up to' for update skip locked;
  if found then
    v_next := v_mark;
    for r in select a.ctid as tid, a.id, a.odd, a.expire_at from carillon.attempts a
      where a.id > v_mark order by a.id limit p_limit - v_seen loop
      exit when r.odd is null and r.expire_at > p_now;
      v_seen := v_seen + 1;
      v_next := r.id;
      if r.odd is null then
        v_tids := v_tids || r.tid;
      end if;
    end loop;
    if v_next <> v_mark then
      update carillon.marks set value = v_next where name = 'attempts pruned up to';
    end if;
  end if;
  if cardinality(v_tids) > 0 then
    update carillon.attempts a set odd = null where a.ctid = any (v_tids) and a.odd = 1 and exists (
        select 1 from carillon.jobs j join carillon.specs x on x.seq = j.seq
        where j.seq = a.job and a.number > j.attempts - x.kept);
    with gone as (
        delete from carillon.attempts a where a.ctid = any (v_tids) and not exists (
          select 1 from carillon.jobs j join carillon.specs x on x.seq = j.seq
          where j.seq = a.job and a.number > j.attempts - x.kept)
        returning a.id
      ) select array_agg(g.id), count(*) into v_gone, v_attempts from gone g;
    if v_gone is not null then
      delete from carillon.logs l where l.attempt = any (v_gone);
    end if;
  end if;
  delete from carillon.skips k where k.ctid = any (array(
        select o.ctid from carillon.skips o where o.expire_at <= p_now
        order by o.expire_at limit p_skips for update skip locked));
  get diagnostics v_skips = row_count;
  v_tids := array(select e.tid from carillon.lines l cross join (values (3), (4)) w (what)
      cross join lateral (select m.ctid as tid, m.at, m.seq from carillon.moments m
        where m.what >= 3 and m.line = l.id and m.what = w.what and m.at <= p_now
        order by m.at, m.seq limit p_limit) e
      order by e.at, e.seq limit p_limit);
  for r in select array_agg(distinct x.line) as lines, sum(c.n) - p_ended_max as beyond
    from carillon.counted c join carillon.shares x on x.id = c.share join carillon.lines l on l.id = x.line
    where x.kind = 1 and c.state > 2 group by l.queue having sum(c.n) > p_ended_max
    order by min(x.line) loop
    exit when cardinality(v_tids) >= p_limit;
    v_tids := v_tids || array(select e.tid from unnest(r.lines) l (id) cross join lateral (
          select m.ctid as tid, m.at, m.seq from carillon.moments m
          where m.what >= 3 and m.line = l.id and m.what = 4
          order by m.at, m.seq limit least(r.beyond, p_limit)) e
        where e.tid <> all (v_tids)
        order by e.at, e.seq limit greatest(0, least(
            r.beyond - (select count(*) from carillon.moments m
              where m.ctid = any (v_tids) and m.what = 4 and m.line = any (r.lines)),
            p_limit - cardinality(v_tids))));
  end loop;
  with gone as (
      delete from carillon.moments m where m.ctid = any (array(
          select k.ctid from carillon.moments k where k.ctid = any (v_tids) and k.what >= 3
          for update skip locked)) returning m.seq
    ) select array_agg(g.seq), count(*) into v_seqs, v_jobs from gone g;
  if v_seqs is not null then
    perform carillon.drop(v_seqs, -2::smallint);
  end if;
  delete from carillon.records k where k.ctid = any (array(
        select o.ctid from carillon.records o where o.expire_at <= p_now
        order by o.expire_at limit p_limit for update skip locked));
  get diagnostics v_records = row_count;
  return query select v_attempts, v_seen, v_skips, v_jobs, v_records;
end $$;
