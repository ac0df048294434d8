import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Confirm, Modal } from '../../../ui/dialog.tsx'
import { humanize } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Name, Prose, State } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { MISSED, NextTime, OVERLAPS, ScheduleForm } from '../ui/schedule-form.tsx'
import { whenWords } from '../ui/schedule-words.ts'

type ScheduleView = Schemas['Schedule']

const PAUSED: Record<NonNullable<ScheduleView['paused_reason']>, string> = {
  by_person: t('A person paused it.'),
  by_app: t('The agent’s service paused it.'),
  failures: t('Paused after five failures in a row.'),
  creator_left: t('Paused because its creator can no longer start this agent. Resumed by you, it acts for you.'),
}

const REASONS: Record<string, string> = {
  overlap: t('The run before was still active.'),
  missed: t('It was missed in an outage.'),
  paused: t('The schedule was paused.'),
}

export default function Schedule({ id }: { id: string }) {
  const known = useData(`schedules one ${id}`, () =>
    unwrap(api.GET('/console/schedules/{id}', { params: { path: { id } } })),
  )
  return (
    <Screen title={known.data?.name ?? t('Schedule')} back={{ to: '/schedules', label: t('Schedules') }}>
      <Shown known={known} tall>
        {(schedule) => (
          <>
            <Summary schedule={schedule} />
            <Actions schedule={schedule} />
            <History id={id} zone={schedule.when.time_zone} />
          </>
        )}
      </Shown>
    </Screen>
  )
}

const Summary = ({ schedule }: { schedule: ScheduleView }) => {
  const { when, start, next_times, paused_reason, last_error } = schedule
  return (
    <section class="card" aria-label={t('Schedule')}>
      <div class="row plain">
        <span class="grow">
          <strong>
            <Name>{whenWords(when)}</Name>
          </strong>
          <span class="soft">
            <a href={`#/agents/${schedule.installation_id}`}>
              <Name>{schedule.agent.name}</Name>
            </a>{' '}
            · {t('created by')} <Name>{schedule.created_by.name}</Name>
            {schedule.is_private && ` · ${t('Only you see it')}`}
          </span>
        </span>
        <State name={schedule.status} />
      </div>
      {paused_reason && (
        <p class="note warn">
          {PAUSED[paused_reason]} {last_error && <Name>{last_error}</Name>}
        </p>
      )}
      <dl class="facts">
        <dt>{t('If the run before is still active')}</dt>
        <dd>{OVERLAPS[schedule.overlap]}</dd>
        {when.event === undefined && (
          <>
            <dt>{t('If times were missed in an outage')}</dt>
            <dd>{MISSED[schedule.missed]}</dd>
          </>
        )}
        {schedule.ends_at && (
          <>
            <dt>{t('Ends')}</dt>
            <dd>
              <NextTime at={schedule.ends_at} zone={when.time_zone} />
            </dd>
          </>
        )}
      </dl>
      {next_times.length > 0 && (
        <>
          <h2>{t('Next times')}</h2>
          <ul>
            {next_times.map((at) => (
              <li key={at}>
                <NextTime at={at} zone={when.time_zone} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h2>{t('What it starts')}</h2>
      {start.message === undefined ? (
        <Json value={start} label={t('What it starts')} />
      ) : (
        <Prose text={start.message} />
      )}
    </section>
  )
}

const Actions = ({ schedule }: { schedule: ScheduleView }) => {
  const [editing, setEditing] = useState(false)
  const { busy, failure, act } = useAction()
  const params = { path: { id: schedule.id } }
  const close = () => setEditing(false)
  const then = async (done: Promise<unknown>, words: string) => {
    await done
    announce(words)
    await refresh('schedules')
  }
  const isActive = schedule.status === 'active'
  const isPaused = schedule.status === 'paused'
  return (
    <>
      {failure && <Problem failure={failure} />}
      <div class="actions" aria-busy={busy}>
        <Confirm
          safe
          label={t('Run now')}
          title={t('Run “{name}” now?', { name: schedule.name })}
          verb={t('Run now')}
          act={() => then(unwrap(api.POST('/console/schedules/{id}/run', { params })), t('Run started.'))}
        >
          <p>{t('It starts one run in your name. The schedule’s times stay as they are.')}</p>
        </Confirm>
        {schedule.status !== 'ended' && (
          <button type="button" onClick={() => setEditing(true)}>
            {t('Edit')}
          </button>
        )}
        {isActive && (
          <button
            type="button"
            onClick={() =>
              act(() => then(unwrap(api.POST('/console/schedules/{id}/pause', { params })), t('Schedule paused.')))
            }
          >
            {t('Pause')}
          </button>
        )}
        {isPaused && (
          <button
            type="button"
            class="primary"
            onClick={() =>
              act(() => then(unwrap(api.POST('/console/schedules/{id}/resume', { params })), t('Schedule resumed.')))
            }
          >
            {t('Resume')}
          </button>
        )}
        <Confirm
          label={t('Delete')}
          title={t('Delete “{name}”?', { name: schedule.name })}
          verb={t('Delete')}
          act={async () => {
            await unwrap(api.DELETE('/console/schedules/{id}', { params }))
            announce(t('Schedule deleted.'))
            navigate('/schedules')
            await refresh('schedules list', 'schedules calendar')
          }}
        >
          <p>{t('It starts no more runs. Its runs stay.')}</p>
        </Confirm>
      </div>
      {editing && (
        <Modal title={t('Edit schedule')} onClose={close}>
          <ScheduleForm schedule={schedule} onDone={close} />
        </Modal>
      )}
    </>
  )
}

const History = ({ id, zone }: { id: string; zone: string | undefined }) => {
  const history = usePages(`schedules history ${id}`, (cursor) =>
    unwrap(
      api.GET('/console/schedules/{id}/occurrences', {
        params: { path: { id }, query: { ...(cursor && { cursor }) } },
      }),
    ),
  )
  return (
    <section class="section" aria-labelledby="history">
      <h2 id="history">{t('History')}</h2>
      <Shown known={history} rows={2}>
        {({ items }) =>
          items.length === 0 && !history.more ? (
            <Empty title={t('It hasn’t fallen due yet.')} />
          ) : (
            <ul class="rows">
              {items.map((one) => (
                <li key={one.id}>
                  <Occurrence one={one} zone={zone} />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <More more={history.more} />
    </section>
  )
}

const Occurrence = ({ one, zone }: { one: Schemas['ScheduleOccurrence']; zone: string | undefined }) => {
  const why = one.error?.message ?? (one.reason === null ? undefined : (REASONS[one.reason] ?? humanize(one.reason)))
  const text = (
    <span class="grow">
      <NextTime at={one.at} zone={zone} />
      {one.event && (
        <span class="soft">
          <Name>{one.event.type}</Name>
        </span>
      )}
      {why !== undefined && (
        <span class="soft">
          <Name>{why}</Name>
        </span>
      )}
    </span>
  )
  const state = <State name={one.run?.status ?? one.status} />
  return one.run?.status ? (
    <a class="row" href={`#/runs/${one.run.id}`}>
      {text}
      {state}
    </a>
  ) : (
    <div class="row">
      {text}
      {state}
    </div>
  )
}
