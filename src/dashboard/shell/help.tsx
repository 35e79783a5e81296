// What the keyboard can do on this page.

import { Dialog } from '../components/dialog.tsx'
import { Key } from '../components/key.tsx'
import { hasLetterKeys } from '../view.ts'
import { knownKeys } from './keys.ts'

export function Help({ onClose }: { readonly onClose: () => void }) {
  const keys = [['⌘ K', 'Go to anything'] as const, ...knownKeys(), ['Esc', 'Close'] as const]
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        {keys.map(([key, label]) => (
          <div key={key}>
            <dt>
              {key.split(' ').map(one => (
                <Key key={one}>{one}</Key>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={hasLetterKeys.value}
          onChange={event => {
            hasLetterKeys.value = (event.target as HTMLInputElement).checked
          }}
        />
        Single letters do something
      </label>
    </Dialog>
  )
}
