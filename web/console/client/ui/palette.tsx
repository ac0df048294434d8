import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import { useData } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { folded } from '../../../ui/folded.ts'
import { t } from '../../../ui/messages.ts'
import { navigate } from '../../../ui/router.ts'
import { api, unwrap } from '../api.ts'

/** A place that the search leads to. */
export interface Found {
  kind: string
  label: string
  to: string
}

const LIMIT = 12
/** Pause in typing after which the platform is asked. */
const PAUSE_MS = 200

/** Returns the places whose label contains every word, those that begin with the text first. */
export const matching = (places: readonly Found[], text: string): Found[] => {
  const words = folded(text).split(/\s+/).filter(Boolean)
  const fits = places.filter(({ label, kind }) => words.every((word) => folded(`${label} ${kind}`).includes(word)))
  const starts = (one: Found): boolean => folded(one.label).startsWith(words.join(' '))
  return [...fits.filter(starts), ...fits.filter((one) => !starts(one))].slice(0, LIMIT)
}

/** A list that can't be loaded is left out, so that the other ones can still be searched. */
const orNone = <T,>(asked: Promise<{ items: T[] }>): Promise<T[]> => asked.then(({ items }) => items).catch(() => [])

/** Loads what the workspace has: the latest 100 of each kind. */
const loadPlaces = async (): Promise<Found[]> => {
  const query = { limit: 100 }
  const [agents, conversations, tasks, members] = await Promise.all([
    orNone(unwrap(api.GET('/console/installations', { params: { query } }))),
    orNone(unwrap(api.GET('/console/conversations', { params: { query } }))),
    orNone(unwrap(api.GET('/console/tasks', { params: { query } }))),
    orNone(unwrap(api.GET('/console/members', { params: { query } }))),
  ])
  return [
    ...agents.map(({ id, app }) => ({ kind: t('Agent'), label: app.name, to: `/agents/${id}` })),
    ...tasks.map(({ id, title }) => ({ kind: t('Task'), label: title, to: `/tasks/${id}` })),
    ...conversations
      // A task's conversation has the title of the task, which leads to it.
      .filter(({ task_id }) => task_id === null)
      .map(({ id, title }) => ({ kind: t('Conversation'), label: title ?? '', to: `/chat/${id}` })),
    ...members.map(({ name }) => ({ kind: t('Member'), label: name, to: '/members' })),
  ].filter(({ label }) => label !== '')
}

/** Apps of the marketplace that match, once the typing pauses. */
const useListings = (text: string): Found[] => {
  const [apps, setApps] = useState<Found[]>([])
  useEffect(() => {
    setApps([])
    const q = text.trim()
    if (q.length < 2) return undefined
    let over = false
    const timer = setTimeout(async () => {
      const found = await orNone(unwrap(api.GET('/console/marketplace', { params: { query: { q, limit: 5 } } })))
      if (!over)
        setApps(found.map(({ slug, name }) => ({ kind: t('Marketplace'), label: name, to: `/marketplace/${slug}` })))
    }, PAUSE_MS)
    return () => {
      over = true
      clearTimeout(timer)
    }
  }, [text])
  return apps
}

/** Search over the screens and what the workspace has. @param screens places that need no request */
export const Palette = ({ screens, onClose }: { screens: readonly Found[]; onClose: () => void }) => {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const places = useData('search installations conversations tasks members', loadPlaces)
  const listings = useListings(text)
  const found = [...matching([...screens, ...(places.data ?? [])], text), ...listings]
  const active = Math.min(at, found.length - 1)
  const open = (one: Found | undefined): void => {
    if (!one) return
    onClose()
    navigate(one.to)
  }
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const keys: Record<string, () => void> = {
    ArrowDown: () => setAt(found.length === 0 ? 0 : (active + 1) % found.length),
    ArrowUp: () => setAt(found.length === 0 ? 0 : (active + found.length - 1) % found.length),
    Enter: () => open(found[active]),
    // Browsers only clear a search field.
    Escape: onClose,
  }
  return (
    <Modal title={t('Search')} onClose={onClose}>
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a list, the role of a search field is searchbox
        role="combobox"
        list={undefined}
        aria-label={t('Search screens, agents, conversations, tasks and members')}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(found[active] && { 'aria-activedescendant': `${id}-${active}` })}
        autocomplete="off"
        spellcheck={false}
        maxLength={100}
        autofocus
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          const act = event.isComposing ? undefined : keys[event.key]
          if (!act) return
          event.preventDefault()
          act()
        }}
      />
      <div class="found" role="listbox" id={`${id}-list`} aria-label={t('Results')} ref={list}>
        {found.map(({ kind, label, to }, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <div
            key={`${kind} ${to} ${label}`}
            role="option"
            id={`${id}-${index}`}
            aria-selected={index === active}
            onClick={() => open({ kind, label, to })}
          >
            <bdi class="grow">{sanitize(label)}</bdi>
            <span class="soft">{kind}</span>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {found.length === 0
          ? places.data
            ? t('Nothing found. Try another word.')
            : t('Loading…')
          : t('Use the arrow keys and Enter. Searches the latest 100 of each kind.')}
      </p>
    </Modal>
  )
}

const mac = /Mac|iP(hone|ad)/.test(navigator.platform)
const ctrl = mac ? '⌘' : t('Ctrl')

const SHORTCUTS: readonly [keys: string[], does: string][] = [
  [[ctrl, 'K'], t('Search and go anywhere')],
  [[ctrl, '/'], t('Show these shortcuts')],
  [[ctrl, '.'], t('Go to what waits for you, from anywhere')],
  [['j'], t('Next item that waits, on Home')],
  [['k'], t('Previous item that waits, on Home')],
  [['a'], t('Move to Approve or Answer of an item')],
  [['r'], t('Move to Reject or Decline of an item')],
  [['←', '↑', '→', '↓'], t('Move between the cards of Tasks')],
  [[t('Shift'), '→'], t('Move a task to the next status')],
  [[t('Shift'), '←'], t('Move a task to the previous status')],
  [[t('Esc')], t('Close a dialog')],
]

/** The list of shortcuts. */
export const Shortcuts = ({ onClose }: { onClose: () => void }) => (
  <Modal title={t('Keyboard shortcuts')} onClose={onClose}>
    <dl class="shortcuts">
      {SHORTCUTS.map(([keys, does]) => (
        <div key={does}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Modal>
)
