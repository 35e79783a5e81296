// What people do to a job, as calls with the words that tell them.

import { act } from '../data/act.ts'
import { api, url } from '../data/api.ts'
import type { Job } from '../data/reads.ts'

type Named = Pick<Job, 'id' | 'name'>

const address = (id: string, verb = '') => url<unknown>(`/jobs/${encodeURIComponent(id)}${verb}`)

export interface PauseGiven {
  readonly until?: string
  readonly note?: string
}

export const jobActions = {
  run: ({ id, name }: Named, payload?: unknown) =>
    act(() => api.post(address(id, '/run'), payload === undefined ? {} : { payload }), {
      done: `${name} runs once, beside its schedule`,
    }),
  pause: (job: Named, given: PauseGiven) =>
    act(() => api.post(address(job.id, '/pause'), given), {
      done: `${job.name} is paused`,
      undo: () => api.post(address(job.id, '/resume')),
    }),
  resume: (job: Named) =>
    act(() => api.post(address(job.id, '/resume')), { done: `${job.name} fires again` }),
  retry: (job: Named) =>
    act(() => api.post(address(job.id, '/retry')), { done: `${job.name} starts over` }),
  cancel: (job: Named, reason: string) =>
    act(() => api.post(address(job.id, '/cancel'), reason === '' ? {} : { reason }), {
      done: `${job.name} is cancelled`,
    }),
  remove: (job: Named) =>
    act(() => api.delete(address(job.id)), { done: `${job.name} is deleted` }),
  cancelRun: (id: string) =>
    act(() => api.post(url(`/runs/${encodeURIComponent(id)}/cancel`), {}), {
      done: 'The run is cancelled; the schedule goes on',
    }),
}

/** What a job's state allows; the service decides, this only keeps dead buttons away. */
export function allowed({ status, reason, trigger, is_paused }: Job) {
  const isEnded = ['completed', 'failed', 'cancelled'].includes(status)
  const isScheduled = trigger.manual !== true
  return {
    run: !isEnded || status === 'completed',
    pause: status === 'scheduled' && !is_paused && isScheduled,
    resume: is_paused,
    retry: status === 'failed' || reason !== null,
    cancel: !isEnded,
  }
}
