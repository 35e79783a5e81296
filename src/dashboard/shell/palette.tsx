// The palette: pages, actions, and everything that has a name or an id, from one field.

import { useLocation } from 'preact-iso'
import { useEffect, useId, useState } from 'preact/hooks'
import { after } from '../clock.ts'
import { never, useRead } from '../data/read.ts'
import { reads, type SearchResults } from '../data/reads.ts'
import { Dialog } from '../components/dialog.tsx'
import { Glyph } from '../components/glyph.tsx'
import { Icon, type IconName } from '../components/icon.tsx'
import { lookOf } from '../components/states.ts'
import { pathTo } from '../paths.ts'
import { href } from '../href.ts'

export interface Command {
  readonly key: string
  readonly label: string
  readonly about?: string
  readonly icon?: IconName
  readonly state?: string
  readonly act: () => void
}

interface PaletteProps {
  readonly commands: readonly Command[]
  readonly onClose: () => void
}

const SHOWN_MAX = 14
const REST_MS = 150

export function Palette({ commands, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const { route } = useLocation()
  const found = useRead(useSearch(text), never)
  const words = text.trim().toLowerCase().split(/\s+/)
  const fitting = commands.filter(({ label }) =>
    words.every(word => label.toLowerCase().includes(word)),
  )
  const results = text.trim() === '' ? [] : resultsOf(found.data, route)
  const shown = [...results, ...fitting].slice(0, SHOWN_MAX)
  const current = Math.min(at, shown.length - 1)
  const choose = (command: Command | undefined) => {
    if (!command) return
    onClose()
    command.act()
  }
  const keyed = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(current + 1, shown.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(current - 1, 0))
    else if (event.key === 'Enter') choose(shown[current])
    else return
    event.preventDefault()
  }
  const typed = (event: Event) => {
    setText((event.target as HTMLInputElement).value)
    setAt(0)
  }
  return (
    <Dialog title="Go to" onClose={onClose} size="large">
      <input
        class="input palette-input"
        autofocus
        role="combobox"
        aria-label="Jobs, runs by id, pages, actions"
        placeholder="Jobs, runs by id, pages, actions"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={shown[current] ? `${id}-${current}` : undefined}
        value={text}
        onInput={typed}
        onKeyDown={keyed}
      />
      <div class="palette-list" id={id} role="listbox" aria-label="Results">
        {shown.map((command, index) => (
          <div
            key={command.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            onMouseMove={() => setAt(index)}
            onClick={() => choose(command)}
          >
            {command.state !== undefined && <Glyph look={lookOf(command.state)} />}
            {command.icon && <Icon name={command.icon} />}
            <span class="grow cut-text">{command.label}</span>
            {command.about !== undefined && <span class="dim small">{command.about}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="dim palette-none">Nothing has this name or id.</p>}
    </Dialog>
  )
}

/** Asks when the typing rests. */
function useSearch(text: string) {
  const [searched, setSearched] = useState('')
  useEffect(() => after(REST_MS, () => setSearched(text.trim())), [text])
  return searched === '' ? null : reads.search(searched.slice(0, 200))
}

function resultsOf(found: SearchResults | undefined, route: (path: string) => void): Command[] {
  if (!found) return []
  return found.jobs.map(job => ({
    key: `job ${job.id}`,
    label: job.name,
    about: `job · ${job.tenant}`,
    state: job.status,
    act: () => route(href(pathTo('job', { id: job.id }))),
  }))
}
