import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../../session/call.ts'
import { type Failure, toFailure } from '../../../session/failure.ts'
import { useData } from '../../../ui/data.ts'
import { t } from '../../../ui/messages.ts'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { type Completion, completionsAt, type JsonSchema } from './completions.ts'
import { placeOf, readJson } from './json-text.ts'

/** Pause after typing before the text is validated, in milliseconds. */
const PAUSE_MS = 350

/** Most suggestions shown at a time. */
const SHOWN = 8

export interface Finding {
  line: number
  position: number
  message: string
  fix: string
  isError: boolean
}

const lineOf = (text: string, position: number): number => text.slice(0, position).split('\n').length

const syntaxFinding = (text: string, error: unknown): Finding => {
  const message = error instanceof Error ? error.message : ''
  const named = /position (\d+)/.exec(message)?.[1]
  const position = Math.min(text.length, named === undefined ? text.length : Number(named))
  return {
    line: lineOf(text, position),
    position,
    message: t('This isn’t JSON yet.'),
    fix: t('Check quotes, commas and brackets here.'),
    isError: true,
  }
}

type Report = Schemas['ManifestReport']

const findingsOf = (text: string, { errors, warnings }: Report): Finding[] => {
  const { places } = readJson(text)
  const shown = (isError: boolean) => (one: Report['errors'][number]) => {
    const position = placeOf(places, one.path)
    return {
      line: lineOf(text, position),
      position,
      message: `${one.path} ${one.message}`.trim(),
      fix: one.fix,
      isError,
    }
  }
  return [...errors.map(shown(true)), ...warnings.map(shown(false))].sort((a, b) => a.position - b.position)
}

/** Returns the errors for which publishing refused a text, without those that are `known`. */
export const refusedIn = (text: string, { details }: Failure, known: readonly Finding[]): Finding[] =>
  Array.isArray(details.errors)
    ? findingsOf(text, { valid: false, errors: details.errors, warnings: [] }).filter(
        ({ message }) => !known.some((one) => one.message === message),
      )
    : []

/**
 * Validates a text as publishing it for an app would, shortly after it stops changing. Undefined while that is under way.
 */
export const useFindings = (app: string, text: string): Finding[] | undefined => {
  const [found, setFound] = useState<{ text: string; findings: Finding[] }>()
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(async () => {
      const done = (findings: Finding[]) => isCurrent && setFound({ text, findings })
      let manifest: unknown
      try {
        manifest = JSON.parse(text)
      } catch (error) {
        done([syntaxFinding(text, error)])
        return
      }
      try {
        // Nothing is stored, so a repeated request needs no key.
        const options = { params: { path: { id: app } }, body: manifest as never, headers: {} }
        done(findingsOf(text, await unwrap(api.POST('/api/v1/dev/apps/{id}/versions/validate', options))))
      } catch (error) {
        const { message, fix } = toFailure(error)
        done([{ line: 1, position: 0, message: message || t('The manifest couldn’t be checked.'), fix, isError: true }])
      }
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [app, text])
  return found?.text === text ? found.findings : undefined
}

/**
 * A JSON editor that completes by the manifest's schema and marks the lines that the validator names. The suggestions
 * are a listbox of the field: Ctrl+Space opens it, the arrow keys choose, Enter takes, and Escape closes.
 */
export const ManifestEditor = ({
  text,
  findings,
  onText,
}: {
  text: string
  findings: readonly Finding[] | undefined
  onText: (text: string) => void
}) => {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const schema = useData('manifest schema', () => call<JsonSchema>('GET', 'schemas/manifest.json'))
  const [offers, setOffers] = useState<readonly Completion[]>([])
  const [chosen, setChosen] = useState(0)
  const caret = useRef<number | undefined>(undefined)
  // In the same task as the new text: a later one could move a selection that was made in the meantime.
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    area.current?.focus()
    area.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  })
  const lines = text.split('\n').length
  const marked = new Map(findings?.map(({ line, isError }) => [line, isError]))
  const close = (): void => setOffers([])
  const offer = (): void => {
    const { current } = area
    if (!current || !schema.data) return
    setOffers(completionsAt(schema.data, current.value, current.selectionStart).slice(0, SHOWN))
    setChosen(0)
  }
  const take = ({ insert, from }: Completion): void => {
    const { current } = area
    if (!current) return
    const end = current.selectionStart
    // A closing quote that the editor or the developer already wrote is part of the word.
    const rest = current.value.slice(end).replace(/^"/, '')
    caret.current = from + insert.length - (/["}\]]$/.test(insert) && insert.includes(':') ? 1 : 0)
    onText(current.value.slice(0, from) + insert + rest)
    close()
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault()
      offer()
      return
    }
    if (offers.length === 0) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const now = offers[chosen]
    if (step) setChosen((chosen + step + offers.length) % offers.length)
    else if (event.key === 'Enter' && now) take(now)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  }
  const go = (position: number): void => {
    area.current?.focus()
    area.current?.setSelectionRange(position, position)
  }
  const isOpen = offers.length > 0
  return (
    <div class="field">
      <label for={id}>{t('Manifest')}</label>
      <p class="hint" id={`${id}-hint`}>
        {t(
          'Ctrl+Space suggests what fits, the arrow keys choose, Enter takes it, and Escape closes the list. Tab leaves the editor.',
        )}
      </p>
      <div class="editor">
        <pre class="gutter" aria-hidden="true">
          {Array.from({ length: lines }, (_, i) => {
            const mark = marked.get(i + 1)
            return (
              <span key={i} class={mark === undefined ? '' : mark ? 'bad' : 'warn'}>
                {i + 1}
                {'\n'}
              </span>
            )
          })}
        </pre>
        <textarea
          ref={area}
          id={id}
          class="code"
          rows={Math.max(14, lines + 1)}
          value={text}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          aria-describedby={`${id}-hint`}
          aria-invalid={findings?.some(({ isError }) => isError) ?? false}
          aria-autocomplete="list"
          aria-controls={`${id}-offers`}
          {...(isOpen && { 'aria-activedescendant': `${id}-${chosen}` })}
          onKeyDown={onKey}
          onInput={({ currentTarget }) => {
            onText(currentTarget.value)
            if (/^[\w"-]$/.test((currentTarget.value[currentTarget.selectionStart - 1] ?? '').trim() || '-x')) offer()
            else close()
          }}
          onClick={close}
          onBlur={close}
        />
      </div>
      <div role="listbox" id={`${id}-offers`} aria-label={t('Suggestions')} class="offers" hidden={!isOpen}>
        {offers.map((one, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field (aria-activedescendant)
          <div
            key={one.label}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            onMouseDown={(event) => {
              event.preventDefault()
              take(one)
            }}
          >
            <code>{one.label}</code> <span class="soft">{one.description}</span>
          </div>
        ))}
      </div>
      <div role="status" class="findings">
        {findings === undefined && <p class="soft">{t('Checking…')}</p>}
        {findings?.length === 0 && <p class="fine">{t('✓ The manifest is valid.')}</p>}
        {findings && findings.length > 0 && (
          <ul>
            {findings.map(({ line, position, message, fix, isError }) => (
              <li key={`${position} ${message}`} class={isError ? 'bad' : 'warn'}>
                <button type="button" class="quiet" onClick={() => go(position)}>
                  {t('Line {line}', { line })}
                </button>
                <span>
                  <strong>
                    <Name>{message}</Name>
                  </strong>{' '}
                  <Name>{fix}</Name>
                </span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}
