// The jobs of the demo: a shop, crawls of sites, and a queue that users share.

import { laneOf } from '../core/fairness/lane.ts'
import { DAY, HOUR, MINUTE, SECOND, type Instant } from '../core/time.ts'
import { cron, crawling, every, handlerOf, made, type DemoJob } from './make.ts'
import { shopJobs } from './shop.ts'

/** Those that a node plays while there is a demo. */
export const demoHandlers: readonly string[] = [
  'mail.digest',
  'cart.cleanup',
  'billing.invoice',
  'report.weekly',
  'video.transcode',
  'search.reindex',
  'thumbnail.render',
  'orders.extract',
  'orders.join',
  'orders.check',
  'orders.publish',
].map(handlerOf)

interface Crawl {
  readonly id: string
  readonly site: string
  readonly minutes: number
  readonly fails: number
  readonly pause?: DemoJob['pause']
}

const crawls: readonly Crawl[] = [
  { id: 'news', site: 'news.example', minutes: 30, fails: 0.04 },
  { id: 'docs', site: 'docs.example', minutes: 120, fails: 0 },
  { id: 'market', site: 'market.example', minutes: 60, fails: 0.25 },
  {
    id: 'forum',
    site: 'forum.example',
    minutes: 45,
    fails: 0.02,
    pause: { note: 'they asked us to wait until their move is done', forMs: 5 * DAY },
  },
]

/** Crawl jobs: an interval, a source, counters of what was found. */
function crawlJobs(): DemoJob[] {
  return crawls.map(({ id, site, minutes, fails, pause }) =>
    made({
      id: `crawl-${id}`,
      spec: {
        name: `crawl ${site}`,
        handler: 'action:crawl',
        tenant: 'globex',
        queue: 'crawl',
        trigger: every(minutes * MINUTE, 'finish'),
        first: 'now',
        payload: crawling(`https://${site}/`),
        tags: ['crawl'],
        metadata: {
          'carillon:flat': {
            source_id: id,
            source_name: site,
            interval_minutes: minutes,
            interval_type: 'minutes',
            schedule_time: null,
            schedule_enabled: true,
          },
        },
      },
      temper: {
        takesMs: [12 * SECOND, 150 * SECOND],
        fails,
        error: `GET https://${site}/ answered 503`,
        unit: 'pages',
        most: 60,
        measures: ['items_crawled', 'items_indexed'],
        says: ['reading robots.txt', 'queueing links', '# pages fetched', '# pages indexed'],
      },
      ...(pause === undefined ? {} : { more: { pause } }),
    }),
  )
}

/** A queue that users share in turns: each firing becomes a task of its own. */
function fairQueue(): DemoJob[] {
  return ['amir', 'bea', 'chen', 'dana'].map((user, i) =>
    made({
      id: `thumbs-${user}`,
      spec: {
        name: `thumbnails of ${user}`,
        handler: 'thumbnail.render',
        tenant: 'initech',
        lane: laneOf('initech', user),
        queue: 'thumbnails',
        trigger: cron(i === 0 ? '*/5 * * * *' : '*/15 * * * *', 'UTC'),
        overlap: { policy: 'allow' },
        payload: { user, size: 512 },
      },
      temper: {
        takesMs: [900, 14 * SECOND],
        fails: 0.02,
        error: 'image is truncated',
        unit: 'images',
        most: 24,
        says: ['loading # images', 'rendered # images'],
      },
      more: { age: 5 * HOUR },
    }),
  )
}

export function demoJobs(now: Instant): DemoJob[] {
  return [...shopJobs(now), ...crawlJobs(), ...fairQueue()]
}
