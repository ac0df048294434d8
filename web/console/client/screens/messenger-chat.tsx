import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { fullTime } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { AssigneeField } from '../ui/assignee.tsx'
import type { MessengerChat } from './messenger.tsx'

type Message = Schemas['MessengerMessage']

/** An agent's draft, which is sent once somebody approves it. */
const Draft = ({ message }: { message: Message }) => {
  const [text, setText] = useState(message.text)
  const { failure, act } = useAction()
  const path = { id: message.id }
  const approve = () =>
    act(async () => {
      const body = text === message.text ? {} : { text }
      await unwrap(api.POST('/console/messenger/messages/{id}/approve', { params: { path }, body }))
      announce(t('Approved. Sending the message…'))
      await refresh('messages')
    })
  const reject = () =>
    act(async () => {
      await unwrap(api.POST('/console/messenger/messages/{id}/reject', { params: { path } }))
      announce(t('Draft rejected. Nothing was sent.'))
      await refresh('messages')
    })
  return (
    <>
      <TextField
        label={t('Draft. You can edit it before sending.')}
        rows={3}
        maxLength={4096}
        value={text}
        onText={setText}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="button" class="primary" onClick={approve} disabled={!text.trim()}>
          {t('Approve and send')}
        </button>
        <button type="button" class="danger" onClick={reject}>
          {t('Reject')}
        </button>
      </div>
    </>
  )
}

const STATUS: Partial<Record<Message['status'], string>> = {
  sending: t('Sending'),
  failed: t('Not sent'),
  unknown: t('May have been sent. Telegram didn’t confirm it'),
  rejected: t('Rejected, not sent'),
}

const Item = ({ message }: { message: Message }) => {
  const draft = message.status === 'draft'
  return (
    <li class={`message ${message.direction === 'out' ? 'mine' : ''} ${draft ? 'draft' : ''}`}>
      <p class="by">
        <b>
          <Name>{message.author.name}</Name>
        </b>
        <When at={message.created_at} />
        {STATUS[message.status] && <State name={message.status} label={STATUS[message.status] ?? ''} />}
      </p>
      {message.deleted_at ? (
        <p class="soft">{t('Deleted in Telegram')}</p>
      ) : draft ? (
        <Draft message={message} />
      ) : (
        <Prose text={message.text} />
      )}
      {message.error && (
        <p class="wrong">
          <Name>{message.error}</Name>
        </p>
      )}
    </li>
  )
}

export default function MessengerChatScreen({ id }: { id: string }) {
  const path = { id }
  const chat = useData<MessengerChat>(`messages messenger chat ${id}`, () =>
    unwrap(api.GET('/console/messenger/chats/{id}', { params: { path } })),
  )
  const messages = usePages<Message>(`messages messenger of ${id}`, (cursor) =>
    unwrap(api.GET('/console/messenger/chats/{id}/messages', { params: { path, query: cursor ? { cursor } : {} } })),
  )
  const [text, setText] = useState('')
  const { failure, act } = useAction()
  const assign = (installation: string) =>
    act(async () => {
      const body = { installation_id: installation || null }
      await unwrap(api.PATCH('/console/messenger/chats/{id}', { params: { path }, body }))
      announce(installation ? t('The agent will now draft replies.') : t('No agent reads this thread anymore.'))
      await refresh('messages')
    })
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/console/messenger/chats/{id}/messages', { params: { path }, body: { text: text.trim() } }))
    setText('')
    await refresh('messages')
  }
  return (
    <Screen title={chat.data?.title ?? t('Thread')} back={{ to: '/messenger', label: t('Messenger') }}>
      <Shown known={chat} rows={1}>
        {(data) => (
          <div class="filters">
            <AssigneeField
              label={t('Agent that drafts replies')}
              value={data.agent?.installation_id ?? ''}
              onChange={(installation) => assign(installation)}
            />
          </div>
        )}
      </Shown>
      {failure && <Problem failure={failure} />}
      {(chat.data || !chat.failure) && (
        <>
          <More more={messages.more} />
          <Shown known={messages} rows={4}>
            {({ items }) => (
              <div aria-live="polite">
                {items.length === 0 && <Empty title={t('No messages yet')} />}
                <ol class="messages">
                  {[...items].reverse().map((message) => (
                    <Item key={`${message.id} ${message.status}`} message={message} />
                  ))}
                </ol>
              </div>
            )}
          </Shown>
          {chat.data?.reply_until && (
            <p class="hint">
              {t('Telegram lets you reply until {reply_until}.', { reply_until: fullTime(chat.data.reply_until) })}
            </p>
          )}
          <Form verb={t('Send')} send={send} disabled={!text.trim()}>
            <TextField label={t('Write a message')} rows={3} maxLength={4096} value={text} onText={setText} />
          </Form>
        </>
      )}
    </Screen>
  )
}
