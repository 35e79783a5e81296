// A shop: tasks its program declares, long work of other teams, calls of others.

import { specDefaults } from '../core/spec.ts'
import { DAY, HOUR, MINUTE, SECOND, type Instant } from '../core/time.ts'
import { calling, cron, every, made, type DemoJob } from './make.ts'

function declared(key: string) {
  return { declared: { app: 'shop', definition: key, key: 'default', generation: '3' } }
}

/** Tasks that a program declares. */
function mails(): DemoJob[] {
  return [
    made({
      id: 'mail-digest',
      spec: {
        name: 'mail.digest',
        handler: 'mail.digest',
        trigger: cron('0 7,13,19 * * *', 'Europe/Berlin'),
        payload: { segment: 'all' },
        tags: ['mail'],
        jitterMs: 20 * SECOND,
      },
      temper: {
        takesMs: [3 * SECOND, 9 * SECOND],
        fails: 0.05,
        error: 'SMTP 421: too many connections',
        unit: 'mails',
        most: 1_200,
        says: ['reading subscribers', 'rendering # mails', 'sending', 'sent # mails'],
      },
      more: declared('mail.digest'),
    }),
    made({
      id: 'cart-cleanup',
      spec: { name: 'cart.cleanup', handler: 'cart.cleanup', trigger: every(5 * MINUTE) },
      temper: {
        takesMs: [400, 2_600],
        fails: 0.004,
        error: 'deadlock detected',
        unit: 'carts',
        most: 90,
        says: ['looking for carts older than 30 days', 'removed # carts'],
      },
      more: declared('cart.cleanup'),
    }),
  ]
}

function books(): DemoJob[] {
  return [
    made({
      id: 'billing-invoice',
      spec: {
        name: 'billing.invoice',
        handler: 'billing.invoice',
        trigger: cron('0 * * * *', 'Europe/Berlin'),
        priority: 5,
        tags: ['billing'],
      },
      temper: {
        takesMs: [6 * SECOND, 40 * SECOND],
        fails: 0.12,
        error: 'ledger is locked by a closing period',
        unit: 'invoices',
        most: 240,
        says: ['collecting orders', '# invoices to write', 'numbering', 'wrote # invoices'],
      },
      more: declared('billing.invoice'),
    }),
    made({
      id: 'report-weekly',
      spec: {
        name: 'report.weekly',
        handler: 'report.weekly',
        trigger: cron('30 6 * * MON', 'America/New_York'),
      },
      temper: {
        takesMs: [50 * SECOND, 140 * SECOND],
        fails: 0,
        unit: 'pages',
        most: 40,
        says: ['querying', 'drawing # pages', 'stored'],
      },
      more: { ...declared('report.weekly'), age: 16 * DAY },
    }),
  ]
}

/** Work of other teams: long runs that overlap, one that is asked for by hand. */
function media(): DemoJob[] {
  return [
    made({
      id: 'video-transcode',
      spec: {
        name: 'video.transcode',
        handler: 'video.transcode',
        tenant: 'initech',
        queue: 'media',
        trigger: every(6 * MINUTE),
        timeoutMs: 20 * MINUTE,
      },
      temper: {
        takesMs: [110 * SECOND, 260 * SECOND],
        slow: { oneOf: 14, times: 3.4 },
        fails: 0.02,
        error: 'codec av1 is not available',
        unit: 'frames',
        most: 9_000,
        says: ['probing input', 'decoding', 'encoding # frames', 'muxing', 'uploaded'],
      },
    }),
    made({
      id: 'search-reindex',
      spec: { name: 'search.reindex', handler: 'search.reindex', trigger: { kind: 'manual' } },
      temper: {
        takesMs: [40 * SECOND, 90 * SECOND],
        fails: 0,
        unit: 'documents',
        most: 60_000,
        says: ['opening a new index', 'writing # documents', 'switching the alias'],
      },
    }),
  ]
}

/** Calls of others, one of which no longer answers; and a moment to come. */
function calls(now: Instant): DemoJob[] {
  return [
    made({
      id: 'status-ping',
      spec: {
        name: 'status page ping',
        handler: 'action:http',
        tenant: 'acme',
        trigger: every(10 * MINUTE),
        payload: calling('https://status.example/api/ping', { service: 'shop' }),
        tags: ['webhook'],
      },
      temper: {
        takesMs: [80, 900],
        fails: 0.03,
        error: 'POST https://status.example/api/ping answered 503',
        unit: 'status',
        most: 204,
        says: ['POST /api/ping'],
      },
    }),
    made({
      id: 'ledger-export',
      spec: {
        name: 'ledger export',
        handler: 'action:http',
        tenant: 'acme',
        trigger: cron('15 4 * * *', 'UTC'),
        retry: { ...specDefaults.retry, limit: 2 },
        payload: calling('https://ledger.example/export', null),
      },
      temper: {
        takesMs: [2 * SECOND, 9 * SECOND],
        fails: 0,
        failsFrom: now - 30 * HOUR,
        error: 'POST https://ledger.example/export answered 410: this export was switched off',
        unit: 'bytes',
        most: 90_000,
        says: ['POST /export'],
      },
    }),
    made({
      id: 'black-friday',
      spec: {
        name: 'open the sale',
        handler: 'cart.cleanup',
        trigger: { kind: 'once', at: now + 3 * DAY },
      },
      temper: { takesMs: [500, 900], fails: 0, unit: 'prices', most: 400, says: ['# prices'] },
    }),
  ]
}

export function shopJobs(now: Instant): DemoJob[] {
  return [...mails(), ...books(), ...media(), ...calls(now)]
}
