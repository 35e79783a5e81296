-- Claims where tenants or lanes have rules, shares or a scope of their own. Claims of one schema that
-- hold to rules take turns, because a cap holds over all queues.

create function carillon.claim_ruled(
  p_queue text, p_handlers text[], p_now bigint, p_limit int, p_owner text, p_token text,
  p_lease bigint, p_attempts text[], p_bite int, p_specs boolean, p_server boolean, p_ruled boolean,
  p_scope text, p_tenant text, p_from text[], p_until text[], p_most int, p_tenants text[],
  p_held int[]
)
returns table (
  ns bigint[], seqs bigint[], spec_ats bigint[], expires bigint[], attempts bigint[],
  fences bigint[], versions bigint[], bodies text, specs json, moment bigint
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_lines int[];
  v_tids tid[] := '{}';
  v_lanes text[];
  v_seqs bigint[];
  v_gone bigint[];
  v_paused boolean;
  v_now bigint := case when p_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
  v_cursor text;
  v_key text;
  v_lane text;
  v_taken int;
  v_open int;
  v_last text;
  v_last_taken int;
  v_passed text;
begin
  v_lines := array(select l.id from carillon.lines l
      where l.queue = p_queue and l.handler = any (p_handlers));
  if cardinality(v_lines) = 0 then
    return;
  end if;
  if p_ruled then
    perform pg_advisory_xact_lock(hashtextextended('carillon.lanes', 0));
  end if;
  insert into carillon.queues (queue) values (p_queue) on conflict do nothing;
  select q.paused, q.cursor, q.taken into v_paused, v_cursor, v_taken
    from carillon.queues q where q.queue = p_queue for update;
  if v_paused then
    return;
  end if;
  v_key := p_queue || E'\n' || coalesce(p_scope, '');
  v_tids := array(select found.tid from unnest(v_lines) l (line) cross join lateral (
        select m.ctid as tid, m.at, m.seq from carillon.moments m
        where m.what = 0 and m.line = l.line and m.at <= v_now
        order by m.at, m.seq limit p_bite) found order by found.at, found.seq limit p_bite);
  if cardinality(v_tids) > 0 then
    update carillon.moments set what = 1 where ctid = any (array(
          select ctid from carillon.moments where ctid = any (v_tids) and what = 0 and at <= v_now
          for update skip locked));
  end if;
  v_tids := '{}';
  if p_tenant is not null then
    select r.p_lane, r.p_taken into v_lane, v_taken from carillon.turn_at(v_key, v_now) r;
    select least(p_limit, r.p_open) into v_open from carillon.ring_room(p_tenant, v_now, p_ruled,
        false) r;
    if p_most is not null then
      v_open := least(v_open, greatest(0, p_most
            - coalesce(p_held[array_position(p_tenants, p_tenant)], 0)));
    end if;
    if v_open > 0 then
      select r.p_tids, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
        into v_tids, v_lanes, v_last, v_last_taken, v_passed from carillon.lanes_serve(
          v_lines, v_now, p_from, p_until, v_lane, v_taken, v_open, p_ruled) r;
    end if;
  else
    if p_scope is null then
      v_lane := split_part(v_cursor, '/', 1);
    else
      select r.p_lane, r.p_taken into v_lane, v_taken from carillon.turn_at(v_key, v_now) r;
    end if;
    select r.p_tids, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
      into v_tids, v_lanes, v_last, v_last_taken, v_passed from carillon.tenants_serve(
        v_key, v_lines, v_now, v_lane, v_taken, p_limit, p_ruled, p_most, p_tenants, p_held) r;
  end if;
  if cardinality(v_tids) = 0 and v_passed is null then
    return;
  end if;
  if p_scope is not null then
    perform carillon.turn_keep(v_key, v_last, v_last_taken, v_now);
  else
    update carillon.queues set cursor = v_last, taken = case when p_ruled then v_last_taken
        else taken end
      where queue = p_queue;
  end if;
  if cardinality(v_tids) = 0 then
    return;
  end if;
  if p_ruled then
    perform carillon.lanes_spend(v_tids, v_lanes, p_token, v_now);
  end if;
  v_seqs := array(select m.seq from unnest(v_tids) with ordinality t (tid, n)
      join carillon.moments m on m.ctid = t.tid order by t.n);
  with ours as materialized (
      select m.ctid as tid from carillon.moments m
      where m.ctid = any (v_tids) and m.what < 2 and m.line = any (v_lines) and m.at <= v_now
      for update skip locked
    ), gone as (
      delete from carillon.moments m where m.ctid = any (array(select tid
          from ours)) returning m.seq
    ) select array_agg(seq) into v_gone from gone;
  if v_gone is null then
    return;
  end if;
  if cardinality(v_tids) = 1 then
    v_seqs := v_gone;
  elsif cardinality(v_gone) < cardinality(v_tids) then
    v_seqs := array(select o.seq from unnest(v_seqs) with ordinality o (seq, n)
        where o.seq = any (v_gone) order by o.n);
  end if;
  insert into carillon.leases as l values (p_token, v_now + p_lease, cardinality(v_seqs), v_seqs)
    on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
    open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;
  return query with held as (
      update carillon.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
      fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
      attempt_id = p_attempts[i], claimed_at = v_now, until_at = v_now + p_lease
      from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
      returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
      j.id, j.series, j.kind, i as n
    ), moved as (
      insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
      array_agg(0), array_agg(1), array_agg(m.n)
      from (select share, count(*) as n from held group by share) m having count(*) > 0
    )
    select array_agg(h.n::bigint), array_agg(h.seq), array_agg(h.spec_at), array_agg(h.expire_at),
    array_agg(h.attempts), array_agg(h.fence), array_agg(h.version), string_agg(h.body, E'\x1f'),
    case when p_specs then (
      select json_agg(json_build_array(
          k.n, x.spec, x.declared, x.created_at::text, k.id, k.series, k.kind::text))
      from held k join carillon.specs x on x.seq = k.seq and x.spec_at = k.spec_at) end, v_now
    from held h;
  perform carillon.fold();
end $$;
