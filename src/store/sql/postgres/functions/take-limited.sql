-- Chooses and locks jobs where tenants or lanes have limits or claims a scope of their own. Such claims of one
-- schema take turns, because a limit holds over all queues; turns are exact.

create function carillon.take_limited(
  p_queue text, p_handlers text[], p_now bigint, p_limit int, p_promoted_max int,
  p_is_server boolean, p_token text, p_scope text, p_tenant text, p_from text[], p_until text[],
  p_most int, p_held jsonb, out p_seqs bigint[], out p_at bigint
)
returns record
language plpgsql as $$
declare
  v_lanes text[];
  v_is_paused boolean;
  v_cursor text;
  v_key text := p_queue || E'\n' || coalesce(p_scope, '');
  v_lane text;
  v_taken int;
  v_open int;
  v_last text;
  v_last_taken int;
  v_passed text;
begin
  p_at := case when p_is_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
  if p_limit <= 0 then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('carillon.lane_running', 0));
  insert into carillon.queues (queue) values (p_queue) on conflict do nothing;
  select q.paused = 1, q.turn_lane, q.turn_taken into v_is_paused, v_cursor, v_taken
    from carillon.queues q where q.queue = p_queue for update;
  if v_is_paused then
    return;
  end if;
  perform carillon.make_ready(p_queue, p_handlers, p_at, p_promoted_max);
  v_lane := split_part(v_cursor, '/', 1);
  if p_scope is not null then
    select r.p_lane, r.p_taken into v_lane, v_taken from carillon.turn_at(v_key, p_at) r;
  end if;
  if p_tenant is null then
    select r.p_seqs, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
      into p_seqs, v_lanes, v_last, v_last_taken, v_passed from carillon.serve_tenants(
        v_key, p_queue, p_handlers, p_at, v_lane, v_taken, p_limit, p_most, p_held) r;
  else
    select least(p_limit, r.p_open) into v_open
      from carillon.tenant_room(p_tenant, p_at, p_most, p_held) r;
    if v_open > 0 then
      select r.p_seqs, r.p_lanes, r.p_last, r.p_last_taken, r.p_passed
        into p_seqs, v_lanes, v_last, v_last_taken, v_passed from carillon.serve_lanes(
          p_queue, p_handlers, p_at, p_from, p_until, v_lane, v_taken, v_open) r;
    end if;
  end if;
  if coalesce(cardinality(p_seqs), 0) > 0 or v_passed is not null then
    if p_scope is null then
      update carillon.queues set turn_lane = v_last, turn_taken = v_last_taken
        where queue = p_queue;
    else
      perform carillon.keep_turn(v_key, v_last, v_last_taken, p_at);
    end if;
  end if;
  select array_agg(o.seq order by o.n), array_agg(o.lane order by o.n) into p_seqs, v_lanes from (
    select m.seq, m.lane, t.n from unnest(p_seqs) with ordinality t (seq, n)
      join carillon.job_states m on m.seq = t.seq
      where m.ready = 1 and m.queue = p_queue and m.due_at <= p_at
      order by t.n for update of m skip locked) o;
  if p_seqs is not null then
    perform carillon.spend_limits(p_seqs, v_lanes, p_token, p_at);
  end if;
end $$;
