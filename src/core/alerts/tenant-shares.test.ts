// Shares of tenants in what is reported one by one.

import { expect, test } from 'vitest'
import { shareOut } from './tenant-shares.ts'

const limits = { sharedMax: 4, allMax: 6 }
const pick = (reported: string, fresh: string) => {
  const jobs = fresh === '' ? [] : fresh.split(' ')
  const { each, others } = shareOut(reported.split(''), jobs, job => job.charAt(0), limits)
  return [each.join(' '), others.join(' ')]
}

test.each([
  ['a tenant alone has all of it', '', 'a1 a2 a3 a4 a5', 'a1 a2 a3 a4', 'a5'],
  ['several share it, whoever is first', '', 'a1 a2 a3 a4 b1 b2 b3', 'a1 a2 b1 b2', 'a3 a4 b3'],
  ['what one leaves free goes to the others', '', 'a1 a2 a3 a4 b1', 'a1 a2 a3 b1', 'a4'],
  [
    'a tenant below its share is reported though the list is full',
    'aaaa',
    'a5 b1 b2 b3',
    'b1 b2',
    'a5 b3',
  ],
  ['more tenants than places have one each', '', 'a1 a2 b1 c1 d1 e1', 'a1 b1 c1 d1 e1', 'a2'],
  ['the bound in all holds whatever the shares', 'aaaa', 'b1 c1 d1', 'b1 c1', 'd1'],
  ['nothing is left over when all fits', 'a', 'a2 b1', 'a2 b1', ''],
  ['nothing of nothing', '', '', '', ''],
])('N5 %s', (...[, reported, fresh, each, others]) => {
  expect(pick(reported, fresh)).toEqual([each, others])
})
