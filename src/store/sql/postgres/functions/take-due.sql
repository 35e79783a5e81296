-- Chooses and locks jobs that are due. While all of them fit, they are simply taken; otherwise tenants take
-- turns, then the lanes of each. No claim waits for another: rows that others hold are passed over, and so is
-- the turn, which then stays as they leave it. Turns of claims that overlap may differ by what these hold.

create function carillon.take_due(
  p_queue text, p_handlers text[], p_now bigint, p_limit int, p_promoted_max int,
  p_is_server boolean, p_is_saturated boolean, p_most int, p_held jsonb,
  out p_seqs bigint[], out p_at bigint
)
returns record
language plpgsql as $$
declare
  v_seqs bigint[];
  v_lanes text[];
  v_is_paused boolean;
  v_cursor text;
  v_want int := p_limit + 1;
  v_has_turns boolean := p_is_saturated or p_most is not null;
begin
  p_at := case when p_is_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
  if p_limit <= 0 then
    return;
  end if;
  if not p_is_saturated then
    v_seqs := array(select m.seq from carillon.job_states m
        where m.ready = 0 and m.queue = p_queue and m.handler = any (p_handlers)
          and m.due_at <= p_at limit v_want)
      || array(select m.seq from carillon.job_states m
        where m.ready = 1 and m.queue = p_queue and m.due_at <= p_at
          and array_position(p_handlers, m.handler) is not null limit v_want);
    if cardinality(v_seqs) = 0 then
      return;
    end if;
    v_has_turns := v_has_turns or cardinality(v_seqs) > p_limit;
  end if;
  select q.paused = 1, q.turn_lane into v_is_paused, v_cursor
    from carillon.queues q where q.queue = p_queue;
  if v_is_paused then
    return;
  end if;
  v_cursor := split_part(coalesce(v_cursor, ''), '/', 1);
  if v_has_turns then
    perform carillon.make_ready(p_queue, p_handlers, p_at, p_promoted_max);
  end if;
  loop
    if v_has_turns then
      v_seqs := carillon.turns(p_queue, p_handlers, p_at, v_want, v_cursor, p_most, p_held);
      -- Nobody had to wait for a turn.
      v_has_turns := p_most is not null or cardinality(v_seqs) > p_limit;
    end if;
    if not v_has_turns and cardinality(v_seqs) > 1 then
      v_seqs := carillon.in_turn(v_seqs, v_cursor);
    end if;
    select array_agg(o.seq order by o.n), array_agg(o.lane order by o.n) into p_seqs, v_lanes from (
      select m.seq, m.lane, t.n from unnest(v_seqs) with ordinality t (seq, n)
        join carillon.job_states m on m.seq = t.seq
        where m.ready is not null and m.queue = p_queue and m.due_at <= p_at
          and array_position(p_handlers, m.handler) is not null
        order by t.n limit p_limit for update of m skip locked) o;
    -- What other claims hold is passed over, as long as there is more behind it.
    exit when not v_has_turns or cardinality(p_seqs) >= p_limit or cardinality(v_seqs) < v_want;
    v_want := v_want + 2 * p_limit;
    exit when v_want > 8 * p_limit;
  end loop;
  if p_seqs is not null and v_has_turns then
    perform carillon.move_turn(p_queue, p_handlers, v_lanes, p_at);
  end if;
end $$;
