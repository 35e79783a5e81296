-- Delayed jobs whose time has come become ready, the earliest first. A row that another transaction holds
-- stays as it is.

create function carillon.make_ready(p_queue text, p_handlers text[], p_now bigint, p_max int)
returns void
language plpgsql as $$
begin
  update carillon.job_states set ready = 1 where seq = any (array(
    select m.seq from carillon.job_states m
      where m.ready = 0 and m.queue = p_queue and m.handler = any (p_handlers) and m.due_at <= p_now
      order by m.due_at limit p_max for update skip locked));
end $$;
