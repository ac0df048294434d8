import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { type Page, patch, refresh, useData, usePages } from '../../../ui/data.ts'
import { Form } from '../../../ui/form.tsx'
import { humanize } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { pollNow, unread } from '../live.ts'
import { addressOf } from '../places.ts'
import { sendAtOnce } from '../ui/at-once.ts'
import EmailPreferences from '../ui/email-preferences.tsx'
import { KINDS, type Kind } from '../ui/notification-kinds.ts'
import { plainText } from '../ui/plain-text.ts'
import { announceDelayed } from '../ui/undo.ts'

type Notification = Schemas['InboxNotification']
type PreferencesView = Schemas['NotificationPreferences']

const KEY = 'notifications list'

const PreferencesForm = ({ messaging_app: now }: PreferencesView) => {
  const [muted, setMuted] = useState(now.muted)
  const [off, setOff] = useState<readonly Kind[]>(now.off)
  const send = async (): Promise<void> => {
    const messaging_app = { muted, off: [...off], muted_until: now.muted_until }
    await unwrap(api.PUT('/console/notifications/preferences', { body: { messaging_app } }))
    announce(t('Preferences saved.'))
    await refresh('notifications preferences')
  }
  return (
    <Form verb={t('Save')} send={send}>
      {!now.can_be_written_to && (
        <p class="note warn">{t('The bot can’t message you yet. Open it in Telegram and press Start.')}</p>
      )}
      <label class="tick">
        <input type="checkbox" checked={muted} onChange={(event) => setMuted(event.currentTarget.checked)} />
        <span>{t('Mute all notifications from this workspace')}</span>
      </label>
      <fieldset disabled={muted}>
        <legend>{t('Notify me when')}</legend>
        <div class="ticks">
          {KINDS.map(([kind, label]) => (
            <label class="tick" key={kind}>
              <input
                type="checkbox"
                checked={!off.includes(kind)}
                onChange={({ currentTarget: { checked } }) =>
                  setOff((before) => (checked ? before.filter((one) => one !== kind) : [...before, kind]))
                }
              />
              <span>{label}</span>
            </label>
          ))}
        </div>
      </fieldset>
    </Form>
  )
}

const Preferences = () => {
  const known = useData('notifications preferences', () => unwrap(api.GET('/console/notifications/preferences')))
  return (
    <>
      <details class="card section">
        <summary>{t('Telegram notifications')}</summary>
        <Shown known={known} rows={2}>
          {(data) => <PreferencesForm {...data} />}
        </Shown>
      </details>
      {known.data?.email.available && (
        <details class="card section">
          <summary>{t('E-mail notifications')}</summary>
          <EmailPreferences key={known.data.email.address ?? ''} preferences={known.data} />
        </details>
      )}
    </>
  )
}

const targetOf = ({ target, app_id }: Notification): string | undefined =>
  target ? addressOf(target.id) : app_id ? '/access' : undefined

export default function Notifications() {
  const list = usePages<Notification>(KEY, (cursor) =>
    unwrap(api.GET('/console/notifications', { params: { query: cursor ? { cursor } : {} } })),
  )
  const shownRead = (ids: ReadonlySet<string>): void => {
    patch<Page<Notification>>(KEY, (page) => ({
      ...page,
      items: page.items.map((one) => (ids.has(one.id) ? { ...one, read: true } : one)),
    }))
  }
  const read = (one: Notification): void => {
    if (one.read) return
    shownRead(new Set([one.id]))
    unread.value = Math.max(0, unread.value - 1)
    api
      .POST('/console/notifications/read', { body: { ids: [one.id] } })
      .then(pollNow, () => void refresh('notifications'))
  }
  const readAll = () => {
    const newest = list.items?.[0]?.id
    const before = unread.value
    shownRead(new Set(list.items?.map(({ id }) => id)))
    unread.value = 0
    const revert = (): void => {
      unread.value = before
      void refresh('notifications')
    }
    const body = { all: true as const, ...(newest && { until: newest }) }
    announceDelayed(t('All notifications marked as read.'), {
      revert,
      commit: async () => {
        await unwrap(api.POST('/console/notifications/read', { body }))
        pollNow()
      },
      commitAtOnce: () => sendAtOnce('console/notifications/read', body),
    })
  }
  return (
    <Screen
      title={t('Notifications')}
      actions={
        unread.value > 0 && (
          <button type="button" onClick={readAll}>
            {t('Mark all as read')}
          </button>
        )
      }
    >
      <Shown known={list} rows={6}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="bell" title={t('No notifications yet')} />
          ) : (
            <ul class="rows">
              {items.map((one) => {
                const to = targetOf(one)
                const what = (
                  <>
                    <span class="grow">
                      <strong>
                        {!one.read && (
                          <span class="dot">
                            <span class="unseen">{t('Unread:')} </span>
                          </span>
                        )}
                        <Name>{one.title || humanize(one.kind)}</Name>
                      </strong>
                      {one.body && (
                        <span class="soft clamped">
                          <Name>{plainText(one.body)}</Name>
                        </span>
                      )}
                    </span>
                    <span class="soft">
                      <When at={one.created_at} />
                    </span>
                  </>
                )
                return (
                  <li key={one.id}>
                    {to ? (
                      <a class={one.read ? 'row' : 'row new'} href={`#${to}`} onClick={() => read(one)}>
                        {what}
                      </a>
                    ) : (
                      <div class={one.read ? 'row' : 'row new'}>
                        {what}
                        {!one.read && (
                          <button type="button" class="quiet" onClick={() => read(one)}>
                            {rich('Mark as read{title}', { title: <span class="unseen">: {one.title}</span> })}
                          </button>
                        )}
                      </div>
                    )}
                  </li>
                )
              })}
            </ul>
          )
        }
      </Shown>
      <More more={list.more} />
      <Preferences />
    </Screen>
  )
}
