// What an attempt logged; while it runs, new lines come as they are written.

import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../data/api.ts'
import { reads, type LogLine, type RunDetail } from '../../data/reads.ts'
import { problemFrom, type ApiProblem } from '../../data/problem.ts'
import { Empty, Loading, ProblemBox } from '../../components/conditions.tsx'
import { momentText, spanText } from '../../components/format.ts'
import { Card } from '../../components/page.tsx'
import { Segments } from '../../components/segments.tsx'
import { zoneFor } from '../../view.ts'

const FOLLOW_SECONDS = 20
const levels = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof levels)[number]

interface Read {
  readonly lines: readonly LogLine[]
  readonly isOver: boolean
  readonly isKnown: boolean
  readonly problem: ApiProblem | null
}

const nothing: Read = { lines: [], isOver: false, isKnown: false, problem: null }

/** Asks again behind the last line until the attempt is over; each question waits for an answer. */
function useLog(id: string, attempt: number): Read {
  const [read, setRead] = useState(nothing)
  useEffect(() => {
    const closed = new AbortController()
    setRead(nothing)
    void follow(id, attempt, closed.signal, setRead)
    return () => closed.abort()
  }, [id, attempt])
  return read
}

async function follow(
  id: string,
  attempt: number,
  signal: AbortSignal,
  tell: (read: Read) => void,
): Promise<void> {
  let lines: readonly LogLine[] = []
  // The first question is answered at once, so that something is shown; the others wait for lines.
  for (let wait = 0; ; wait = FOLLOW_SECONDS) {
    try {
      const address = reads.log(id, { attempt, offset: lines.length, follow: wait })
      const { body } = await call(address, { signal })
      lines = [...lines, ...body.lines]
      tell({ lines, isOver: body.is_over, isKnown: true, problem: null })
      if (body.is_over) return
    } catch (error) {
      if (signal.aborted) return
      return tell({ lines, isOver: true, isKnown: true, problem: problemFrom(error) })
    }
  }
}

export function Log({ run }: { readonly run: RunDetail }) {
  const [chosen, setChosen] = useState<number | null>(null)
  const attempt = chosen ?? run.attempts
  const read = useLog(run.id, attempt)
  const [sieve, setSieve] = useState<Sieve>({ least: 'debug', words: '', isWrapped: true })
  const fits = ({ level, message }: LogLine) =>
    levels.indexOf(level) >= levels.indexOf(sieve.least) &&
    message.toLowerCase().includes(sieve.words.toLowerCase())
  const shown = read.lines.filter(fits)
  const aside = read.isOver ? 'ended' : 'following'
  return (
    <Card title="Log" wide aside={read.isKnown ? aside : undefined}>
      <div class="stack">
        <div class="row log-tools">
          {run.attempts > 1 && (
            <Segments
              label="Attempt"
              value={String(attempt)}
              options={numbers(run.attempts).map(n => [n, `Attempt ${n}`] as const)}
              onChange={n => setChosen(Number(n))}
            />
          )}
          <SieveTools sieve={sieve} change={next => setSieve({ ...sieve, ...next })} />
          <Download lines={shown} name={`${run.id}-${attempt}.log`} />
        </div>
        {read.problem !== null && <ProblemBox problem={read.problem} />}
        <Lines shown={shown} read={read} isWrapped={sieve.isWrapped} />
      </div>
    </Card>
  )
}

interface Sieve {
  readonly least: Level
  readonly words: string
  readonly isWrapped: boolean
}

interface SieveProps {
  readonly sieve: Sieve
  readonly change: (next: Partial<Sieve>) => void
}

function SieveTools({ sieve, change }: SieveProps) {
  return (
    <>
      <Segments
        label="Minimum level"
        value={sieve.least}
        options={levels.map(level => [level, level] as const)}
        onChange={least => change({ least })}
      />
      <input
        class="input log-search"
        type="search"
        aria-label="Search the log"
        placeholder="Search the log"
        value={sieve.words}
        onInput={event => change({ words: event.currentTarget.value })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={sieve.isWrapped}
          onChange={event => change({ isWrapped: event.currentTarget.checked })}
        />
        Wrap
      </label>
    </>
  )
}

/** The newest attempts only: there may be many. */
function numbers(attempts: number): string[] {
  const from = Math.max(1, attempts - 5)
  return Array.from({ length: attempts - from + 1 }, (_, i) => String(from + i))
}

interface LinesProps {
  readonly shown: readonly LogLine[]
  readonly read: Read
  readonly isWrapped: boolean
}

function Lines({ shown, read, isWrapped }: LinesProps) {
  const box = useRef<HTMLDivElement>(null)
  const [isFollowing, setFollowing] = useState(true)
  useEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [shown.length, isFollowing])
  if (!read.isKnown) return <Loading lines={3} />
  if (shown.length === 0) {
    const none = read.isOver ? 'It logged nothing' : 'Nothing logged yet'
    return <Empty title={read.lines.length === 0 ? none : 'No line matches'} />
  }
  const scrolled = () => {
    const { scrollTop, clientHeight, scrollHeight } = box.current!
    setFollowing(scrollTop + clientHeight >= scrollHeight - 8)
  }
  const start = Date.parse(read.lines[0]!.at)
  return (
    <>
      <div
        ref={box}
        class={`log${isWrapped ? '' : ' unwrapped'}`}
        role="log"
        aria-live="off"
        aria-label="Lines of the log"
        tabIndex={0}
        onScroll={scrolled}
      >
        {shown.map((line, at) => (
          <Line key={at} line={line} start={start} />
        ))}
      </div>
      {!isFollowing && !read.isOver && (
        <button type="button" class="button small" onClick={() => setFollowing(true)}>
          Follow the newest lines
        </button>
      )}
    </>
  )
}

function Line({ line, start }: { readonly line: LogLine; readonly start: number }) {
  const at = Date.parse(line.at)
  const zone = zoneFor('UTC')
  return (
    <div class={`log-line l-${line.level}`}>
      <time dateTime={line.at} title={momentText(at, { zone, hasSeconds: true })}>
        +{spanText(at - start)}
      </time>
      <span class="level">{line.level}</span>
      <span class="message">
        {line.message}
        {line.fields !== null && <span class="dim"> {JSON.stringify(line.fields)}</span>}
      </span>
    </div>
  )
}

function Download({ lines, name }: { readonly lines: readonly LogLine[]; readonly name: string }) {
  const save = () => {
    const text = lines.map(line => JSON.stringify(line)).join('\n')
    const place = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }))
    const link = document.createElement('a')
    link.href = place
    link.download = name
    link.click()
    URL.revokeObjectURL(place)
  }
  return (
    <button type="button" class="button small" disabled={lines.length === 0} onClick={save}>
      Download
    </button>
  )
}
