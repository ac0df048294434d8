import { TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import type { SandboxSchemas } from '../sandbox.ts'

/** Fields of a subscription, as a form holds them. */
export interface WebhookText {
  url: string
  events: string
  filter: string
  rate: string
}

type Filter = NonNullable<SandboxSchemas['Webhook']['filter']>

/** Values as a person would type them. A text that could be taken for something else is in quotes. */
const valueText = (value: Filter[string][number]): string =>
  typeof value === 'string' && String(parsedValue(value)) === value && typeof parsedValue(value) === 'string'
    ? value
    : JSON.stringify(value)

const parsedValue = (text: string): Filter[string][number] => {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? text : value
  } catch {
    return text
  }
}

export const textOf = ({ url, events, filter, max_per_minute }: SandboxSchemas['Webhook']): WebhookText => ({
  url,
  events: events.join(' '),
  // The store keeps the fields in no order.
  filter: Object.entries(filter ?? {})
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, values]) => `${field} = ${values.map(valueText).join(', ')}`)
    .join('\n'),
  rate: max_per_minute === null ? '' : String(max_per_minute),
})

export const NEW_WEBHOOK: WebhookText = { url: '', events: 'run.*', filter: '', rate: '' }

/** Parses lines such as `status = failed, "true"`. Undefined if a line has no `=`. */
const filterOf = (text: string): Filter | null | undefined => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return null
  if (lines.some((line) => !line.includes('='))) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=')
      const values = line.slice(at + 1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? []
      return [
        line.slice(0, at).trim(),
        values.map((value) => parsedValue(value.trim())).filter((value) => value !== ''),
      ]
    }),
  )
}

const masksOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Returns the body of the request, as far as it can be read. The API checks it. */
export const webhookBody = ({ url, events, filter, rate }: WebhookText) => ({
  url: url.trim(),
  events: masksOf(events),
  filter: filterOf(filter),
  max_per_minute: rate.trim() === '' ? null : Number(rate),
})

export const isReadable = ({ filter, rate }: WebhookText): boolean =>
  filterOf(filter) !== undefined && (rate.trim() === '' || Number.isInteger(Number(rate)))

/** Fields of a subscription. @param wrong what the API found wrong, by field */
export const WebhookFields = ({
  text,
  wrong,
  onText,
}: {
  text: WebhookText
  wrong: Record<string, string>
  onText: (text: WebhookText) => void
}) => {
  const set = (field: keyof WebhookText) => (value: string) => onText({ ...text, [field]: value })
  const inFilter = Object.entries(wrong).find(([field]) => field.startsWith('filter'))
  return (
    <>
      <TextField
        label="URL"
        type="url"
        value={text.url}
        required
        maxLength={2_048}
        problem={wrong.url}
        onText={set('url')}
      />
      <TextField
        label={t('Events')}
        hint={t('Types or masks such as run.*, separated by spaces.')}
        value={text.events}
        required
        spellcheck={false}
        problem={wrong.events}
        onText={set('events')}
      />
      <TextField
        label={t('Only events with')}
        hint={t(
          'One field of the event’s data on each line, with its allowed values: status = failed, cancelled. Empty for all events.',
        )}
        rows={3}
        value={text.filter}
        spellcheck={false}
        problem={
          inFilter
            ? `${inFilter[0].replace('filter.', '')}: ${inFilter[1]}`
            : filterOf(text.filter) === undefined
              ? t('Each line needs a field, an equals sign, and values.')
              : undefined
        }
        onText={set('filter')}
      />
      <TextField
        label={t('At most per minute')}
        hint={t('Further events wait, up to a day. Empty for no limit.')}
        value={text.rate}
        maxLength={4}
        autocomplete="off"
        problem={wrong.max_per_minute}
        onText={set('rate')}
      />
    </>
  )
}
