// The first page: what needs a look, how the last day went, what comes next, what runs now.

import { Page } from '../../components/page.tsx'
import { AttentionCard } from './attention.tsx'
import { LatenessCard } from './lateness.tsx'
import { RunningCard } from './running.tsx'
import { Tiles } from './tiles.tsx'
import { UpcomingCard } from './upcoming.tsx'

export function Overview() {
  return (
    <Page title="Overview">
      <AttentionCard />
      <Tiles />
      <div class="columns">
        <UpcomingCard />
        <div class="stack">
          <RunningCard />
          <LatenessCard />
        </div>
      </div>
    </Page>
  )
}
