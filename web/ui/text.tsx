import { resolveUrl } from '../session/config.ts'
import { sanitize } from '../session/text.ts'
import { fullTime, humanize, shortTime } from './format.ts'
import { rich, t } from './messages.ts'

/** One line of untrusted text, with deceptive characters made visible. */
export const Name = ({ children }: { children: string }) => <bdi>{sanitize(children)}</bdi>

/** Multi-line untrusted text. */
export const Prose = ({ text }: { text: string }) => (
  <span class="prose" dir="auto">
    {text
      .split('\n')
      .map((line) => sanitize(line.replaceAll('\t', '  ')))
      .join('\n')}
  </span>
)

/** @param brief for lists, where the name comes first */
export const When = ({ at, brief }: { at: string; brief?: boolean }) => (
  <time dateTime={at} title={fullTime(at)}>
    {shortTime(at, brief ? 'narrow' : 'long')}
  </time>
)

/** A JSON value in full. The scroll area is focusable, so that it can be reached with the keyboard. */
export const Json = ({ value, label }: { value: unknown; label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <section class="json" tabIndex={0} aria-label={label}>
    <pre>{cleanLines(JSON.stringify(value, null, 2))}</pre>
  </section>
)

const cleanLines = (text: string | undefined): string => (text ?? '').split('\n').map(sanitize).join('\n')

const TONES: Record<string, string> = {
  succeeded: 'good',
  active: 'good',
  done: 'good',
  approved: 'good',
  sent: 'good',
  ok: 'good',
  failed: 'bad',
  revoked: 'bad',
  suspended: 'bad',
  rejected: 'bad',
  error: 'bad',
  awaiting_approval: 'warn',
  awaiting_input: 'warn',
  discuss: 'warn',
  pending: 'warn',
  draft: 'warn',
  review: 'warn',
  running: 'act',
  in_progress: 'act',
  queued: 'act',
}
const MARKS: Record<string, string> = { good: '✓', bad: '✕', warn: '!', act: '…' }

/** A state label with a mark, because colour alone isn't accessible. */
export const State = ({ name, label }: { name: string; label?: string }) => {
  const tone = TONES[name] ?? 'plain'
  return (
    <span class={`state ${tone}`}>
      {MARKS[tone] && <span aria-hidden="true">{MARKS[tone]} </span>}
      {label ?? humanize(name)}
    </span>
  )
}

/** First letter or digit of a name. */
const initial = (name: string): string => name.match(/[\p{L}\p{N}]/u)?.[0] ?? ''

/** Hue of a name's avatar, from 0 to 359. The same name has the same colour everywhere. */
const hueOf = (name: string): number => {
  let hash = 0
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 360_007
  return (hash * 137) % 360
}

/** A person's initials. Their name stands next to it. */
export const Initials = ({ name }: { name: string }) => {
  const words = sanitize(name).split(/\s+/).filter(initial)
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return (
    <span class="logo person-mark" aria-hidden="true" style={{ '--hue': hueOf(name) }}>
      {ends
        .map((word) => initial(word ?? ''))
        .join('')
        .toUpperCase() || '?'}
    </span>
  )
}

/** An app's logo as the platform serves it, or the first letter of its name in a colour of its own. @param path the `logo_path` of a response */
export const Logo = ({ name, path }: { name: string; path?: string | null | undefined }) => {
  const address = path ? resolveUrl(path.slice(1)) : undefined
  return (
    <span class="logo" aria-hidden="true" style={{ '--hue': hueOf(name) }}>
      {(initial(sanitize(name)) || '?').toUpperCase()}
      {address && (
        <img
          src={address}
          alt=""
          loading="lazy"
          referrerpolicy="no-referrer"
          onError={(event) => {
            event.currentTarget.hidden = true
          }}
        />
      )}
    </span>
  )
}

export const Stars = ({ rating, count }: { rating: number | null | undefined; count?: number }) =>
  rating === null || rating === undefined ? (
    <span class="soft">{t('No reviews yet')}</span>
  ) : (
    <span class="stars">
      <span aria-hidden="true">{'★'.repeat(Math.round(rating)).padEnd(5, '☆')} </span>
      {rating.toFixed(1)}
      <span class="unseen"> {t('of 5 stars')}</span>
      {count !== undefined && (
        <span class="soft">
          {' '}
          {rich('({count}<unseen> reviews</unseen>)', { count, unseen: (text) => <span class="unseen">{text}</span> })}
        </span>
      )}
    </span>
  )
