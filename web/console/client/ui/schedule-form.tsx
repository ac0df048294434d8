import { useEffect, useState } from 'preact/hooks'
import { Failure, toFailure } from '../../../session/failure.ts'
import { sanitize } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData } from '../../../ui/data.ts'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Json } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { EVENT_WORDS } from './event-words.ts'
import { parseObject } from './parse-object.ts'
import { inZone, readerZone, weekdayName } from './schedule-times.ts'
import { cronOf, intervalOf, placeOf, rhythmOf, type Unit, type When, whenWords } from './schedule-words.ts'

type Schedule = Schemas['Schedule']

const REPEATS = {
  weekdays: t('Weekdays'),
  daily: t('Every day'),
  weekly: t('Every week'),
  monthly: t('Every month'),
  hourly: t('Every hour'),
  interval: t('After an interval'),
  once: t('Once'),
  cron: t('Cron expression'),
  event: t('When something happens'),
} as const
type Repeats = keyof typeof REPEATS

interface Draft {
  repeats: Repeats
  time: string
  weekday: string
  day: string
  minute: string
  amount: string
  unit: Unit
  /** In the device's zone, as the input gives it. */
  once: string
  cron: string
  zone: string
  /** Type or mask of an event, and a field of its data with its value, if it has to have one. */
  event: string
  path: string
  value: string
}

const localInput = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

const EMPTY: Omit<Draft, 'zone'> = {
  repeats: 'weekdays',
  time: '09:00',
  weekday: '1',
  day: '1',
  minute: '0',
  amount: '1',
  unit: 'hour',
  once: '',
  cron: '0 9 * * MON-FRI',
  event: 'task.created',
  path: '',
  value: '',
}

const draftOf = (when: When | undefined): Draft => {
  const draft = { ...EMPTY, zone: when?.time_zone ?? readerZone() }
  if (!when) return draft
  if (when.event !== undefined) {
    const [path = '', value = ''] = Object.entries(when.match ?? {})[0] ?? []
    return { ...draft, repeats: 'event', event: when.event, path, value: String(value) }
  }
  if (when.at !== undefined) return { ...draft, repeats: 'once', once: localInput(new Date(when.at)) }
  if (when.every !== undefined) {
    const interval = intervalOf(when.every)
    return { ...draft, repeats: 'interval', ...(interval && { amount: String(interval.amount), unit: interval.unit }) }
  }
  const cron = when.cron ?? ''
  const rhythm = rhythmOf(cron)
  if (!rhythm) return { ...draft, repeats: 'cron', cron }
  return {
    ...draft,
    cron,
    repeats: rhythm.repeats,
    ...('time' in rhythm && { time: rhythm.time }),
    ...(rhythm.repeats === 'weekly' && { weekday: String(rhythm.weekday) }),
    ...(rhythm.repeats === 'monthly' && { day: String(rhythm.day) }),
    ...(rhythm.repeats === 'hourly' && { minute: String(rhythm.minute) }),
  }
}

const EVERY: Record<Unit, (amount: string) => string> = {
  minute: (amount) => `PT${amount}M`,
  hour: (amount) => `PT${amount}H`,
  day: (amount) => `P${amount}D`,
}

/** Reads a value as the number, boolean or null that it looks like, else as text. */
const scalarOf = (text: string): string | number | boolean | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : text
  } catch {
    return text
  }
}

/** Returns what a draft says, or undefined while a field is empty. */
const whenOf = (draft: Draft): When | undefined => {
  const { repeats, time, zone } = draft
  if (repeats === 'event') {
    const [event, path] = [draft.event.trim(), draft.path.trim()]
    return event ? { event, ...(path && { match: { [path]: scalarOf(draft.value) } }) } : undefined
  }
  if (repeats === 'once') return draft.once ? { at: new Date(draft.once).toISOString() } : undefined
  if (repeats === 'interval') return draft.amount ? { every: EVERY[draft.unit](draft.amount) } : undefined
  const cron = (): string | undefined => {
    if (repeats === 'cron') return draft.cron.trim() || undefined
    if (repeats === 'hourly') return draft.minute && cronOf({ repeats, minute: Number(draft.minute) })
    if (!time) return undefined
    if (repeats === 'weekly') return cronOf({ repeats, time, weekday: Number(draft.weekday) })
    if (repeats === 'monthly') return draft.day && cronOf({ repeats, time, day: Number(draft.day) })
    return cronOf({ repeats, time })
  }
  const text = cron()
  return text ? { cron: text, time_zone: zone } : undefined
}

const zones = (): string[] => {
  const all = Intl.supportedValuesOf('timeZone')
  return all.includes('UTC') ? all : ['UTC', ...all]
}

type Change = (changes: Partial<Draft>) => void

const NumberField = ({
  label,
  hint,
  value,
  min,
  max,
  onText,
}: {
  label: string
  hint?: string
  value: string
  min: number
  max: number
  onText: (text: string) => void
}) => (
  <Field label={label} hint={hint}>
    {(field) => (
      <input
        {...field}
        type="number"
        required
        min={min}
        max={max}
        value={value}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    )}
  </Field>
)

const WhenFields = ({ draft, change }: { draft: Draft; change: Change }) => {
  const { repeats } = draft
  const all = zones()
  return (
    <>
      <Field label={t('Repeats')}>
        {(field) => (
          <select
            {...field}
            value={repeats}
            onChange={({ currentTarget }) => change({ repeats: currentTarget.value as Repeats })}
          >
            {Object.entries(REPEATS).map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        )}
      </Field>
      {repeats === 'weekly' && (
        <Field label={t('Weekday')}>
          {(field) => (
            <select
              {...field}
              value={draft.weekday}
              onChange={({ currentTarget }) => change({ weekday: currentTarget.value })}
            >
              {[1, 2, 3, 4, 5, 6, 0].map((weekday) => (
                <option key={weekday} value={weekday}>
                  {weekdayName(weekday)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {repeats === 'monthly' && (
        <NumberField
          label={t('Day of the month')}
          hint={t('Months without this day are left out.')}
          value={draft.day}
          min={1}
          max={31}
          onText={(day) => change({ day })}
        />
      )}
      {repeats === 'hourly' && (
        <NumberField
          label={t('Minutes past the hour')}
          value={draft.minute}
          min={0}
          max={59}
          onText={(minute) => change({ minute })}
        />
      )}
      {['weekdays', 'daily', 'weekly', 'monthly'].includes(repeats) && (
        <Field label={t('Time of day')}>
          {(field) => (
            <input
              {...field}
              type="time"
              required
              value={draft.time}
              onInput={({ currentTarget }) => change({ time: currentTarget.value })}
            />
          )}
        </Field>
      )}
      {repeats === 'interval' && (
        <>
          <NumberField
            label={t('Every', {}, 'interval')}
            value={draft.amount}
            min={1}
            max={9_999}
            onText={(amount) => change({ amount })}
          />
          <Field label={t('Unit of time')}>
            {(field) => (
              <select
                {...field}
                value={draft.unit}
                onChange={({ currentTarget }) => change({ unit: currentTarget.value as Unit })}
              >
                <option value="minute">{t('Minutes')}</option>
                <option value="hour">{t('Hours')}</option>
                <option value="day">{t('Days')}</option>
              </select>
            )}
          </Field>
        </>
      )}
      {repeats === 'once' && (
        <Field label={t('Date and time')} hint={t('In this device’s time zone.')}>
          {(field) => (
            <input
              {...field}
              type="datetime-local"
              required
              value={draft.once}
              onInput={({ currentTarget }) => change({ once: currentTarget.value })}
            />
          )}
        </Field>
      )}
      {repeats === 'cron' && (
        <TextField
          label={t('Cron expression')}
          hint={t('Minute, hour, day of month, month, weekday')}
          required
          maxLength={200}
          spellcheck={false}
          value={draft.cron}
          onText={(cron) => change({ cron })}
        />
      )}
      {repeats === 'event' && <EventFields draft={draft} change={change} />}
      {repeats !== 'once' && repeats !== 'interval' && repeats !== 'event' && (
        <Field label={t('Time zone')}>
          {(field) => (
            <select
              {...field}
              value={draft.zone}
              onChange={({ currentTarget }) => change({ zone: currentTarget.value })}
            >
              {(all.includes(draft.zone) ? all : [draft.zone, ...all]).map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </select>
          )}
        </Field>
      )}
    </>
  )
}

const OTHER = ''

const EventFields = ({ draft: { event, path, value }, change }: { draft: Draft; change: Change }) => (
  <>
    <Field label={t('Event')}>
      {(field) => (
        <select
          {...field}
          value={event in EVENT_WORDS ? event : OTHER}
          onChange={({ currentTarget }) => change({ event: currentTarget.value })}
        >
          {Object.entries(EVENT_WORDS).map(([type, what]) => (
            <option key={type} value={type}>
              {t('When {what}', { what })}
            </option>
          ))}
          <option value={OTHER}>{t('Another event')}</option>
        </select>
      )}
    </Field>
    {!(event in EVENT_WORDS) && (
      <TextField
        label={t('Event type')}
        hint={t('Such as custom.order.paid, or custom.order.* for all that begin so')}
        required
        maxLength={120}
        spellcheck={false}
        value={event}
        onText={(type) => change({ event: type })}
      />
    )}
    <TextField
      label={t('Only if this field of the event (optional)')}
      hint={t('Such as status or order.kind')}
      maxLength={100}
      spellcheck={false}
      value={path}
      onText={(name) => change({ path: name })}
    />
    {path && (
      <TextField
        label={t('has this value')}
        maxLength={200}
        spellcheck={false}
        value={value}
        onText={(text) => change({ value: text })}
      />
    )}
  </>
)

/** Time without typing after which the preview is asked for. */
const PAUSE = 300

type Preview = { times: string[] } | { failure: Failure } | undefined

/** Says in words when it falls due, with its next times. */
const Next = ({ when }: { when: When | undefined }) => {
  const [preview, setPreview] = useState<Preview>()
  const text = JSON.stringify(when)
  useEffect(() => {
    setPreview(undefined)
    if (!when) return undefined
    let current = true
    const timer = setTimeout(async () => {
      const answer = await unwrap(api.POST('/console/schedules/preview', { body: { when } })).then(
        ({ next_times }): Preview => ({ times: next_times }),
        (error: unknown): Preview => ({ failure: toFailure(error) }),
      )
      if (current) setPreview(answer)
    }, PAUSE)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [text])
  return (
    <div class="note" role="status">
      {when && <strong>{sanitize(whenWords(when))}</strong>}
      {preview && 'failure' in preview && <WhyNot failure={preview.failure} />}
      {preview && 'times' in preview && preview.times.length > 0 && (
        <>
          <p>{t('Next times in {place}:', { place: placeOf(readerZone()) })}</p>
          <ul>
            {preview.times.map((at) => (
              <li key={at}>
                <NextTime at={at} zone={when?.time_zone} />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

/** Shows the problems of the times, without the API's names of the fields. */
const WhyNot = ({ failure }: { failure: Failure }) => {
  const problems = Object.values(fieldProblems(failure))
  return problems.length > 0 ? <p>{sanitize(problems.join(' '))}</p> : <Problem failure={failure} />
}

/** A time in the reader's zone, with the schedule's beside it if they differ. */
export const NextTime = ({ at, zone }: { at: string; zone: string | undefined }) => (
  <>
    <time dateTime={at}>{inZone(at)}</time>
    {zone !== undefined && inZone(at, zone) !== inZone(at) && (
      <span class="soft"> · {t('{time} in {place}', { time: inZone(at, zone), place: placeOf(zone) })}</span>
    )}
  </>
)

export const OVERLAPS = {
  skip: t('Skip this time'),
  queue: t('Start when it has ended'),
  allow: t('Start anyway'),
} as const

export const MISSED = { latest: t('Start one run for the latest, within an hour'), skip: t('Skip them') } as const

const Choice = <T extends string>({
  label,
  from,
  value,
  onChoice,
}: {
  label: string
  from: Record<T, string>
  value: T
  onChoice: (choice: T) => void
}) => (
  <Field label={label}>
    {(field) => (
      <select {...field} value={value} onChange={({ currentTarget }) => onChoice(currentTarget.value as T)}>
        {Object.entries<string>(from).map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Field>
)

const STARTS = { message: t('With a message from you'), input: t('With JSON input') } as const

/** Fields of a new schedule, or of an existing one. */
export const ScheduleForm = ({ schedule, onDone }: { schedule: Schedule | undefined; onDone: () => void }) => {
  const agents = useData('installations all', () =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 100 } } })),
  )
  const [chosen, setAgent] = useState('')
  const agent = chosen || (agents.data?.items[0]?.id ?? '')
  const [name, setName] = useState(schedule?.name ?? '')
  const [kind, setKind] = useState<keyof typeof STARTS>(schedule?.start.input ? 'input' : 'message')
  const [message, setMessage] = useState(schedule?.start.message ?? '')
  const [input, setInput] = useState(JSON.stringify(schedule?.start.input ?? {}, null, 2))
  const [draft, setDraft] = useState(() => draftOf(schedule?.when))
  const [overlap, setOverlap] = useState<Schedule['overlap']>(schedule?.overlap ?? 'skip')
  const [missed, setMissed] = useState<Schedule['missed']>(schedule?.missed ?? 'latest')
  const [moved, setMoved] = useState(!schedule)
  const when = moved ? whenOf(draft) : schedule?.when
  const parsed = parseObject(input)
  const isIncomplete = kind === 'input' && !parsed
  const startsTool = schedule?.start.tool !== undefined
  const send = async (): Promise<void> => {
    if (!when) throw new Failure('validation_failed', 400, t('Choose when it falls due.'))
    const start = kind === 'message' ? { message } : { input: parsed }
    const common = { name: name.trim(), overlap, missed }
    if (schedule) {
      // Another `when` would count from now on.
      const body = { ...common, ...(!startsTool && { start }), ...(moved && { when }) }
      await unwrap(api.PATCH('/console/schedules/{id}', { params: { path: { id: schedule.id } }, body }))
    } else {
      await unwrap(api.POST('/console/schedules', { body: { ...common, installation_id: agent, start, when } }))
    }
    announce(schedule ? t('Schedule changed.') : t('Schedule created.'))
    await refresh('schedules')
  }
  return (
    <Form verb={schedule ? t('Save') : t('Create schedule')} disabled={isIncomplete} send={send} done={onDone}>
      <TextField label={t('Name')} required maxLength={100} value={name} onText={setName} />
      {!schedule && (
        <Field label={t('Agent')}>
          {(field) => (
            <select {...field} required value={agent} onChange={({ currentTarget }) => setAgent(currentTarget.value)}>
              {agents.data?.items.map(({ id, app }) => (
                <option key={id} value={id}>
                  {sanitize(app.name)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <WhenFields
        draft={draft}
        change={(changes) => {
          setMoved(true)
          setDraft((before) => ({ ...before, ...changes }))
        }}
      />
      <Next when={when} />
      {startsTool ? (
        <Json value={schedule.start} label={t('What it starts')} />
      ) : (
        <Choice label={t('Start the agent')} from={STARTS} value={kind} onChoice={setKind} />
      )}
      {!startsTool && kind === 'message' && (
        <TextField
          label={t('Message')}
          hint={t('Sent in your conversation with the agent each time. Only you see this schedule.')}
          required
          rows={3}
          value={message}
          onText={setMessage}
        />
      )}
      {!startsTool && kind === 'input' && (
        <TextField
          label={t('JSON input')}
          hint={t('A JSON object.')}
          problem={parsed ? undefined : t('This isn’t a JSON object.')}
          rows={4}
          spellcheck={false}
          value={input}
          onText={setInput}
        />
      )}
      <details>
        <summary>{t('Overlaps and outages')}</summary>
        <Choice label={t('If the run before is still active')} from={OVERLAPS} value={overlap} onChoice={setOverlap} />
        {when?.event === undefined && (
          <Choice label={t('If times were missed in an outage')} from={MISSED} value={missed} onChoice={setMissed} />
        )}
      </details>
    </Form>
  )
}
