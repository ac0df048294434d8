import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../../ui/icons.tsx'
import { t } from '../../ui/messages.ts'
import { navigate } from '../../ui/router.ts'
import { isInboxWanted } from './waiting.ts'

const open = signal<'search' | 'shortcuts' | undefined>(undefined)
const parts = signal<typeof import('./ui/palette.tsx') | undefined>(undefined)

const close = (): void => {
  open.value = undefined
}

/** Opens a dialog. Its code is loaded first, because few visits need it. */
const show = async (which: 'search' | 'shortcuts'): Promise<void> => {
  try {
    parts.value ??= await import('./ui/palette.tsx')
  } catch {
    // Offline. The navigation still works.
    return
  }
  open.value = which
}

/** Shortcuts need Ctrl or ⌘, because speech input may type single characters anywhere. */
const onKey = (event: KeyboardEvent): void => {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return
  if (event.key === '.' && !document.querySelector('dialog[open]')) {
    event.preventDefault()
    isInboxWanted.value = true
    navigate('/')
    return
  }
  const which = event.key.toLowerCase() === 'k' ? 'search' : event.key === '/' ? 'shortcuts' : undefined
  // A dialog may hold text that isn't saved.
  if (!which || (open.value === undefined && document.querySelector('dialog[open]'))) return
  event.preventDefault()
  void show(which)
}

/** Search over everything, and the list of shortcuts. */
export const Quick = ({ screens }: { screens: readonly { to: string; label: string }[] }) => {
  useEffect(() => {
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const loaded = parts.value
  if (!loaded || !open.value) return null
  const places = screens.map(({ to, label }) => ({ kind: t('Screen'), label, to }))
  return open.value === 'search' ? (
    <loaded.Palette screens={places} onClose={close} />
  ) : (
    <loaded.Shortcuts onClose={close} />
  )
}

/** Opens the search. @param inHeader for narrow windows, without words */
export const SearchButton = ({ inHeader }: { inHeader?: boolean }) => (
  <button
    type="button"
    class={inHeader ? 'bell only-narrow' : 'nav-link extra'}
    aria-keyshortcuts="Control+K Meta+K"
    onClick={() => void show('search')}
  >
    <Icon name="search" />
    <span class={inHeader ? 'unseen' : ''}>{t('Search')}</span>
    {!inHeader && <span class="keys soft">{t('Ctrl K')}</span>}
  </button>
)

export const ShortcutsButton = () => (
  <button type="button" class="quiet" aria-keyshortcuts="Control+/ Meta+/" onClick={() => void show('shortcuts')}>
    {t('Shortcuts')}
  </button>
)
