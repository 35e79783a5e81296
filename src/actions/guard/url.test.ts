// Every address and spelling that must be refused, and what the operator may open.

import { describe, expect, it } from 'vitest'
import { publicUrls, refusedUrls } from '../../../tests/actions/vectors.ts'
import { parseAddress, parseRange, whyRefused } from './address.ts'
import { AllowList } from './allow.ts'
import { checkUrl, shownUrl } from './url.ts'

const none = AllowList.none()
const allowing = (...entries: string[]) => AllowList.parse(entries).list
const isAllowed = (url: string, list: AllowList) => checkUrl(url, list).rule === null

describe('a URL is judged before anything is sent (sec-S1, sec-S2)', () => {
  it('the list of refused URLs has at least sixty', () => {
    expect(Object.values(refusedUrls).flat().length).toBeGreaterThanOrEqual(60)
  })

  for (const [about, urls] of Object.entries(refusedUrls)) {
    it.each(urls)(`${about}: %s is refused`, url => {
      expect(checkUrl(url, none).rule).toEqual(expect.any(String))
    })
  }

  it.each(publicUrls)('%s is allowed', url => {
    expect(checkUrl(url, none)).toMatchObject({ rule: null })
  })

  it('says which rule is broken', () => {
    expect(checkUrl('http://10.1.2.3/', none).rule).toBe(
      'must not point to an internal address (private)',
    )
  })

  it('is shown without its query, which may hold a key', () => {
    expect(shownUrl('https://example.com/hook?key=canary')).toBe('https://example.com/hook?…')
  })
})

describe('the operator opens internal hosts one by one (sec-S9)', () => {
  it.each([
    ['hooks.internal', 'http://hooks.internal/', 'http://other.internal/'],
    ['hooks.internal:8080', 'http://hooks.internal:8080/', 'http://hooks.internal/'],
    ['redis', 'https://redis/', 'http://redis:6379/'],
    ['*.corp.internal', 'http://a.b.corp.internal/', 'http://corp.internal/'],
    ['10.1.0.0/16', 'http://10.1.2.3/', 'http://10.2.0.1/'],
    ['10.1.0.0/16:9000', 'http://10.1.2.3:9000/', 'http://10.1.2.3/'],
    ['127.0.0.1:*', 'http://127.0.0.1:12345/', 'http://127.0.0.2:12345/'],
    ['fd00::/8', 'http://[fd00::1]/', 'http://[fe80::1]/'],
    ['[::1]:8080', 'http://[::1]:8080/', 'http://[::1]/'],
    ['*:8443', 'https://example.com:8443/', 'https://10.0.0.1:8443/'],
  ])('%s opens %s and not %s', (entry, open, closed) => {
    const list = allowing(entry)
    expect([isAllowed(open, list), isAllowed(closed, list)]).toEqual([true, false])
  })

  it('a range does not open the metadata address inside it, an exact entry does', () => {
    const url = 'http://169.254.169.254/'
    expect(isAllowed(url, allowing('169.254.0.0/16'))).toBe(false)
    expect(isAllowed(url, allowing('169.254.169.254'))).toBe(true)
  })

  it('every wrong entry is named at once', () => {
    const { problems } = AllowList.parse('ok.internal, http://x/, *, 10.0.0.0/33, a:b, 0x7f.1, *.')
    expect(problems.map(({ value }) => value)).toEqual([
      'http://x/',
      '*',
      '10.0.0.0/33',
      'a:b',
      '0x7f.1',
      '*.',
    ])
  })
})

describe('an address is judged by its number', () => {
  it('the first and last address of a range are in it, their neighbours are not', () => {
    const why = (text: string) => whyRefused(parseAddress(text)!)
    expect(['172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'].map(why)).toEqual([
      null,
      'private',
      'private',
      null,
    ])
    expect(['100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'].map(why)).toEqual([
      null,
      'carrier-grade NAT',
      'carrier-grade NAT',
      null,
    ])
  })

  it('reads every way of writing the same IPv6 address', () => {
    const values = ['::ffff:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:0102:0304']
    expect(new Set(values.map(text => parseAddress(text)?.value))).toEqual(
      new Set([0xffff01020304n]),
    )
  })

  it('a zone id or a bad length is no address', () => {
    expect(parseAddress('fe80::1%eth0')).toBeNull()
    expect(parseRange('10.0.0.0/-1')).toBeNull()
    expect(parseRange('10.0.0.0/8/8')).toBeNull()
  })
})
