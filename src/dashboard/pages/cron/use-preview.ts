// What the service says about an expression, a moment after the typing rests.

import { useEffect, useState } from 'preact/hooks'
import { after } from '../../clock.ts'
import { api, url } from '../../data/api.ts'
import { problemFrom, type ApiProblem } from '../../data/problem.ts'
import type { CronPreview } from '../../data/reads.ts'

export interface PreviewQuery {
  readonly cron: string
  readonly dialect: 'extended' | 'posix'
  readonly zone: string
  readonly gap: 'shift' | 'skip'
  readonly fold: 'first' | 'both'
  readonly compare: string
}

export interface Preview {
  readonly data: CronPreview | null
  readonly problem: ApiProblem | null
  readonly isBusy: boolean
}

const REST_MS = 200
const COUNT = 10

export function usePreview(query: PreviewQuery): Preview {
  const [preview, setPreview] = useState<Preview>({ data: null, problem: null, isBusy: true })
  const key = JSON.stringify(query)
  useEffect(() => {
    let isOver = false
    if (query.cron.trim() === '') {
      setPreview({ data: null, problem: null, isBusy: false })
      return
    }
    setPreview(held => ({ ...held, isBusy: true }))
    const cancel = after(REST_MS, () => {
      ask(query)
        .then(data => isOver || setPreview({ data, problem: null, isBusy: false }))
        .catch(
          (error: unknown) =>
            isOver || setPreview({ data: null, problem: problemFrom(error), isBusy: false }),
        )
    })
    return () => {
      isOver = true
      cancel()
    }
  }, [key])
  return preview
}

function ask({ cron, dialect, zone, gap, fold, compare }: PreviewQuery): Promise<CronPreview> {
  return api.post(url<CronPreview>('/cron/preview'), {
    cron,
    dialect,
    timezones: [zone],
    count: COUNT,
    dst: { gap, fold },
    ...(compare.trim() === '' ? {} : { compare }),
  })
}
