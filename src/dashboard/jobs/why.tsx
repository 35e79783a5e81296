// Why a job runs when it does, or does not: the verdict and the checks behind it.

import { never, useRead } from '../data/read.ts'
import { reads, type Job } from '../data/reads.ts'
import { Shown } from '../components/conditions.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Glyph } from '../components/glyph.tsx'
import { lookOf } from '../components/states.ts'

interface WhyProps {
  readonly job: Pick<Job, 'id' | 'name'>
  readonly onClose: () => void
}

export function WhyDialog({ job, onClose }: WhyProps) {
  const read = useRead(reads.why(job.id), never)
  return (
    <Dialog title={`Why: ${job.name}`} onClose={onClose} size="large">
      <Shown read={read}>
        {({ verdict, checks }) => (
          <div class="stack">
            <p class="verdict">{verdict}</p>
            <ul class="checks">
              {checks.map(({ ok, code, text, fix }) => (
                <li key={code}>
                  <Glyph look={lookOf(ok ? 'completed' : 'failed')} />
                  <span class="away-from-sight">{ok ? 'Fine: ' : 'In the way: '}</span>
                  <span class="grow">
                    {text}
                    {fix !== undefined && <span class="dim"> → {fix}</span>}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </Shown>
    </Dialog>
  )
}
