import { useState } from 'preact/hooks'
import { useData, usePages } from '../../../ui/data.ts'
import { Modal } from '../../../ui/dialog.tsx'
import { t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, State } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { NextTime, ScheduleForm } from '../ui/schedule-form.tsx'
import { clockTime, dayText, readerZone } from '../ui/schedule-times.ts'
import { placeOf, whenWords } from '../ui/schedule-words.ts'

export default function Schedules() {
  const [adding, setAdding] = useState(false)
  const close = () => setAdding(false)
  const schedules = usePages('schedules list', (cursor) =>
    unwrap(api.GET('/console/schedules', { params: { query: { ...(cursor && { cursor }) } } })),
  )
  return (
    <Screen
      title={t('Schedules')}
      wide
      actions={
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          {t('New schedule')}
        </button>
      }
    >
      <Shown known={schedules} tall>
        {({ items }) =>
          items.length === 0 && !schedules.more ? (
            <Empty title={t('No schedules')}>
              <p>{t('A schedule starts an agent for you: each morning, every hour, or once at a time.')}</p>
            </Empty>
          ) : (
            <>
              <ul class="rows">
                {items.map((schedule) => (
                  <li key={schedule.id}>
                    <ScheduleRow schedule={schedule} />
                  </li>
                ))}
              </ul>
              <More more={schedules.more} />
              <Week />
            </>
          )
        }
      </Shown>
      {adding && (
        <Modal title={t('New schedule')} onClose={close}>
          <ScheduleForm schedule={undefined} onDone={close} />
        </Modal>
      )}
    </Screen>
  )
}

const ScheduleRow = ({ schedule }: { schedule: Schemas['Schedule'] }) => (
  <a class="row folds" href={`#/schedules/${schedule.id}`}>
    <span class="grow">
      <strong>
        <Name>{schedule.name}</Name>
      </strong>
      <span class="soft">
        <Name>{schedule.agent.name}</Name> · <Name>{whenWords(schedule.when)}</Name>
      </span>
      {schedule.next_at && (
        <span class="soft">
          {t('Next:')} <NextTime at={schedule.next_at} zone={schedule.when.time_zone} />
        </span>
      )}
    </span>
    <State name={schedule.status} />
  </a>
)

type Entry = { id: string; name: string; times: string[]; more: boolean }

/** Times that a day of the calendar lists of one schedule. Of more, it gives the first and the last. */
const LISTED = 3

const timesText = ({ times, more }: Entry): string => {
  if (times.length <= LISTED && !more) return times.map(clockTime).join(', ')
  return t('{first} to {last}, {count} times', {
    first: clockTime(times[0] ?? ''),
    last: clockTime(times.at(-1) ?? ''),
    count: more ? `${times.length}+` : String(times.length),
  })
}

const DAY = 86_400_000

/** Groups what falls due by day in the reader's zone. */
const daysOf = ({ from, to, items }: Schemas['ScheduleCalendar']): Map<string, Entry[]> => {
  const days = new Map<string, Entry[]>()
  for (let at = Date.parse(from); at < Date.parse(to); at += DAY) days.set(dayText(new Date(at).toISOString()), [])
  for (const { schedule_id: id, name, times, has_more } of items) {
    for (const at of times) {
      const day = dayText(at)
      const entries = days.get(day) ?? []
      days.set(day, entries)
      const entry = entries.find((one) => one.id === id)
      const more = has_more && at === times.at(-1)
      if (entry) {
        entry.times.push(at)
        entry.more ||= more
      } else entries.push({ id, name, times: [at], more })
    }
  }
  for (const entries of days.values()) entries.sort((a, b) => ((a.times[0] ?? '') < (b.times[0] ?? '') ? -1 : 1))
  return days
}

const Week = () => {
  const calendar = useData('schedules calendar', () => unwrap(api.GET('/console/schedules/calendar')))
  return (
    <section class="section" aria-labelledby="week">
      <h2 id="week">{t('The next seven days')}</h2>
      <p class="hint">{t('Times in {place}', { place: placeOf(readerZone()) })}</p>
      <Shown known={calendar} rows={2}>
        {(data) => (
          <ol class="week">
            {[...daysOf(data)].map(([day, entries]) => (
              <li key={day}>
                <h3>{day}</h3>
                {entries.length === 0 && <p class="soft">{t('Nothing due')}</p>}
                {entries.map((entry) => (
                  <a key={entry.id} href={`#/schedules/${entry.id}`}>
                    <Name>{entry.name}</Name>
                    <span class="soft">{timesText(entry)}</span>
                  </a>
                ))}
              </li>
            ))}
          </ol>
        )}
      </Shown>
    </section>
  )
}
