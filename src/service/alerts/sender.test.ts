// Sending alerts: order, tries, pace, room and stopping.

import { expect, it } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { AlertSender, type Alert, type AlertSenderLimits, type Delivery } from './sender.ts'

const alert = (id: string): Alert => ({ id, type: 'alert.raised', at: 0, data: {} })
const again: Delivery = { kind: 'again', afterMs: null }
const done: Delivery = { kind: 'done' }

/** Answers in the order given, the last one for ever; an error is one that rejects. */
function make(answers: (Delivery | Error)[], limits: Partial<AlertSenderLimits> = {}) {
  const clock = new VirtualClock(1_000_000)
  const posted: string[] = []
  const post = async ({ id }: Alert): Promise<Delivery> => {
    posted.push(`${id} ${(clock.now() - 1_000_000) / 1_000}`)
    const answer = answers[Math.min(posted.length, answers.length) - 1]!
    if (answer instanceof Error) throw answer
    return answer
  }
  return { clock, posted, sender: new AlertSender({ clock, post, log: null, limits }) }
}

it('tries again, each time after twice as long, and goes on with the next', async () => {
  const { clock, posted, sender } = make([again, new Error('no route'), again, done])
  const settled: boolean[] = []
  sender.offer(alert('a'), isDelivered => settled.push(isDelivered))
  sender.offer(alert('b'))
  await clock.advance(60_000)
  expect(posted).toEqual(['a 0', 'a 1', 'a 3', 'a 7', 'b 7'])
  expect(settled).toEqual([true])
  expect(sender.text()).toContain('carillon_alerts_total{result="sent"} 2')
  expect(sender.text()).toContain('carillon_alert_requests_total 5')
})

it('waits as long as the receiver asks', async () => {
  const { clock, posted, sender } = make([{ kind: 'again', afterMs: 90_000 }, done])
  sender.offer(alert('a'))
  await clock.advance(300_000)
  expect(posted).toEqual(['a 0', 'a 90'])
})

it('gives up after so many tries, or at once when the receiver wants none', async () => {
  const { clock, posted, sender } = make([again], { triesMax: 3 })
  const settled: boolean[] = []
  sender.offer(alert('a'), isDelivered => settled.push(isDelivered))
  await clock.advance(3_600_000)
  expect(posted).toHaveLength(3)
  expect(settled).toEqual([false])
  const final = make([{ kind: 'final', why: '404' }])
  final.sender.offer(alert('b'))
  await final.clock.advance(3_600_000)
  expect(final.posted).toEqual(['b 0'])
  expect(final.sender.text()).toContain('result="failed"} 1')
})

it('keeps to its pace', async () => {
  const { clock, posted, sender } = make([done], { perMinute: 2 })
  for (const id of ['a', 'b', 'c', 'd', 'e']) sender.offer(alert(id))
  await clock.advance(180_000)
  expect(posted).toEqual(['a 0', 'b 0', 'c 60', 'd 60', 'e 120'])
})

it('refuses what does not fit', async () => {
  const { clock, sender } = make([again], { queueMax: 2 })
  expect(['a', 'b', 'c'].map(id => sender.offer(alert(id)))).toEqual([true, true, false])
  await clock.settle()
  expect(sender.waiting).toBe(2)
  expect(sender.text()).toContain('result="refused"} 1')
})

it('stops in the middle of a pause and sends nothing more', async () => {
  const { clock, posted, sender } = make([again])
  const settled: boolean[] = []
  sender.offer(alert('a'), isDelivered => settled.push(isDelivered))
  await clock.settle()
  await sender.stop()
  await clock.advance(60_000)
  expect(posted).toEqual(['a 0'])
  expect(settled).toEqual([false])
  expect(sender.offer(alert('b'))).toBe(false)
})
