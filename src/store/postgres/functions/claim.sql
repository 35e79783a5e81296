-- Due and waiting to running. While everything due fits, it is simply taken; otherwise tenants take turns,
-- then the lanes of each. No claim waits for another: rows that others hold are passed over, and so is the
-- turn, which then stays as they leave it. Turns of claims that overlap may differ by what these hold.

create function carillon.claim(
  p_queue text, p_handlers text[], p_now bigint, p_limit int, p_owner text, p_token text,
  p_lease bigint, p_attempts text, p_bite int, p_specs boolean, p_server boolean, p_crowd boolean,
  p_most int, p_held jsonb
)
returns table (
  jobs text, moment bigint, ids json, kinds smallint[], created bigint[],
  serieses json, declareds json, specs text
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_lines int[];
  v_tids tid[];
  v_locked tid[];
  v_seqs bigint[];
  v_lanes text[];
  v_paused boolean;
  v_cursor text;
  v_want int := p_limit + 1;
  v_turned boolean := false;
  v_now bigint := case when p_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
  v_attempts text[] := string_to_array(p_attempts, E'\x1f');
begin
  v_lines := array(select l.id from carillon.lines l
      where l.queue = p_queue and l.handler = any (p_handlers));
  if cardinality(v_lines) = 0 then
    return;
  end if;
  if not p_crowd then
    v_tids := array(select ctid from carillon.moments
        where what = 0 and line = any (v_lines) and at <= v_now limit v_want)
      || array(select ctid from carillon.moments
        where what = 1 and line = any (v_lines) and at <= v_now limit v_want);
    if cardinality(v_tids) = 0 then
      return;
    end if;
  end if;
  select q.paused, split_part(q.cursor, '/', 1) into v_paused, v_cursor
    from carillon.queues q where q.queue = p_queue;
  if v_paused then
    return;
  end if;
  v_cursor := coalesce(v_cursor, '');
  if p_crowd or p_most is not null or cardinality(v_tids) > p_limit then
    perform carillon.promote(v_lines, v_now, p_bite);
    v_turned := true;
  end if;
  loop
    if v_turned then
      v_tids := carillon.turns(v_lines, v_now, v_want, v_cursor, p_queue || E'\n\n',
        p_most, p_held);
      -- Nobody had to wait for a turn.
      v_turned := p_most is not null or cardinality(v_tids) > p_limit;
    end if;
    if not v_turned and cardinality(v_tids) > 1 then
      v_tids := carillon.in_turn(v_tids, v_cursor);
    end if;
    select array_agg(o.tid order by o.n), array_agg(o.seq order by o.n),
        array_agg(o.lane order by o.n)
      into v_locked, v_seqs, v_lanes from (
      select m.ctid as tid, m.seq, m.lane, t.n from unnest(v_tids) with ordinality t (tid, n)
        join carillon.moments m on m.ctid = t.tid
        where m.what < 2 and m.line = any (v_lines) and m.at <= v_now
        order by t.n limit p_limit for update of m skip locked) o;
    -- What other claims hold is passed over, as long as there is more behind it.
    exit when not v_turned or cardinality(v_seqs) >= p_limit or cardinality(v_tids) < v_want;
    v_want := v_want + 2 * p_limit;
    exit when v_want > 8 * p_limit;
  end loop;
  if v_seqs is null then
    return;
  end if;
  delete from carillon.moments m where m.ctid = any (v_locked);
  if v_turned then
    perform carillon.turn_move(p_queue, v_lines, v_lanes, v_now);
  end if;
  insert into carillon.leases as l values (p_token, v_now + p_lease, cardinality(v_seqs), v_seqs)
    on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
      open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;
  if p_specs then
    return query with held as (
        update carillon.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
        fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
        attempt_id = v_attempts[i], claimed_at = v_now, until_at = v_now + p_lease
        from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
        returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
        j.id, j.series, j.kind, i as n
      ), moved as (
        insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
        array_agg(0), array_agg(1), array_agg(m.n)
        from (select share, count(*) as n from held group by share) m having count(*) > 0
      )
      select string_agg(
        concat_ws(',', h.n, h.seq, h.spec_at, h.attempts, h.fence, h.version, h.body), ','), v_now,
            to_json(array_agg(h.id)), array_agg(h.kind), array_agg(x.created_at),
      case when count(h.series) > 0 then to_json(array_agg(h.series)) end,
      case when count(x.declared) > 0 then to_json(array_agg(x.declared)) end,
      string_agg(coalesce(x.spec, ''), E'\x1f')
      from held h left join carillon.specs x on x.seq = h.seq and x.spec_at = h.spec_at;
  else
    return query with held as (
        update carillon.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
        fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
        attempt_id = v_attempts[i], claimed_at = v_now, until_at = v_now + p_lease
        from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
        returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
        j.id, j.series, j.kind, i as n
      ), moved as (
        insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
        array_agg(0), array_agg(1), array_agg(m.n)
        from (select share, count(*) as n from held group by share) m having count(*) > 0
      )
      select string_agg(
        concat_ws(',', h.n, h.seq, h.spec_at, h.attempts, h.fence, h.version, h.body), ','), v_now,
            null::json, null::smallint[], null::bigint[], null::json, null::json,
      null::text from held h;
  end if;
  perform carillon.fold();
end $$;
