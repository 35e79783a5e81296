// What is due is due by both clocks: that of the caller, which may be ahead, and the server's. A test
// owns time alone.

/** In a function whose parameters are `p_now` and `p_server`. */
export const judged = `case when p_server
  then least(p_now, floor(extract(epoch from clock_timestamp()) * 1000)::bigint) else p_now end`
