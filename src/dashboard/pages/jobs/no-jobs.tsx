// No jobs: how to make the first one, or how to find those that are there.

import { useState } from 'preact/hooks'
import { isAdmin } from '../../data/session.ts'
import { Empty } from '../../components/conditions.tsx'
import { LoadDemo } from '../../components/demo.tsx'
import { CopyButton } from '../../components/json.tsx'
import { Segments } from '../../components/segments.tsx'
import { useView } from '../../components/view-state.ts'
import { paths } from '../../paths.ts'
import { base, href } from '../../href.ts'

type Way = 'ts' | 'curl'

const ways = [
  ['ts', 'TypeScript'],
  ['curl', 'curl'],
] as const

const examples: Readonly<Record<Way, string>> = {
  ts: `import { schedule } from 'carillon'

await schedule('cleanup', '5m', async ({ log }) => {
  log.info('swept', { rows: await sweep() })
})`,
  curl: `curl -X POST ${location.origin}${base}/api/v1/jobs \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name": "ping", "trigger": {"cron": "0 7 * * 1-5", "timezone": "Europe/Berlin"},
       "action": {"kind": "http", "url": "https://example.com/hook"}}'`,
}

export function NoJobs({ hasFilter }: { readonly hasFilter: boolean }) {
  const view = useView()
  const [way, setWay] = useState<Way>('ts')
  if (hasFilter) {
    return (
      <section class="card">
        <Empty
          title="No job matches the filter"
          actions={
            <a class="button" href={view.href({ q: null, page: null })}>
              Clear the filter
            </a>
          }
        />
      </section>
    )
  }
  return (
    <section class="card">
      <Empty
        title="No jobs yet"
        actions={
          isAdmin.value && (
            <>
              <a class="button primary" href={href(paths.newJob)}>
                Create the first job
              </a>
              <LoadDemo />
            </>
          )
        }
      >
        <p>Declare jobs in code, make them over the API, or here.</p>
      </Empty>
      <div class="example stack">
        <div class="row between">
          <Segments label="Example" value={way} options={ways} onChange={setWay} />
          <CopyButton text={examples[way]} />
        </div>
        <pre tabIndex={0} role="region" aria-label="Example">
          {examples[way]}
        </pre>
      </div>
    </section>
  )
}
