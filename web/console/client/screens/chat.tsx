import { useEffect, useRef, useState } from 'preact/hooks'
import type { Failure } from '../../../session/failure.ts'
import { sanitize } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { refresh, useData, usePages } from '../../../ui/data.ts'
import { filter, setFilter } from '../../../ui/filters.tsx'
import { folded } from '../../../ui/folded.ts'
import { Icon } from '../../../ui/icons.tsx'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { navigate } from '../../../ui/router.ts'
import { Empty, More, Screen, Shown } from '../../../ui/screen.tsx'
import { useStuck } from '../../../ui/stuck.ts'
import { Logo, Name, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import { api, type Schemas, unwrap } from '../api.ts'
import { AttachButton, Attached, type AttachedFile } from '../ui/attach.tsx'
import { useMention } from '../ui/mention.tsx'
import { type Message, Messages } from '../ui/messages.tsx'
import { plainText } from '../ui/plain-text.ts'
import { say } from '../ui/say.ts'

type Conversation = Schemas['PersonConversation']

const Answering = part(() => import('../ui/answering.tsx'))
const NoReply = part(() => import('../ui/no-reply.tsx'))
const MessageSearch = part(async () => ({ default: (await import('../ui/message-search.tsx')).MessageSearch }))
const FoundConversations = part(async () => ({
  default: (await import('../ui/message-search.tsx')).FoundConversations,
}))

const nameOf = ({ kind, title, answered_by }: Conversation): string =>
  sanitize(kind === 'main' ? t('Main conversation') : kind === 'agent' ? (answered_by?.name ?? title) : title)

/** Finds the user's latest message if its run hasn't answered yet. */
const unanswered = (items: readonly Message[]): Message | undefined => {
  const last = [...items].reverse().find(({ author }) => author.type === 'user')
  if (!last?.run_id) return undefined
  const answered = items.some(({ author, run_id }) => author.type !== 'user' && run_id === last.run_id)
  return answered ? undefined : last
}

const Compose = ({ id, name, own }: { id: string; name: string; own: string | null | undefined }) => {
  const [text, setText] = useState('')
  const area = useRef<HTMLTextAreaElement>(null)
  const agents = useMention(text, setText, area, own)
  const { mention } = agents
  const [files, setFiles] = useState<AttachedFile[]>([])
  const [problem, setProblem] = useState<Failure>()
  const { busy, failure, act } = useAction()
  const send = () =>
    act(async () => {
      const attachments = files.map((file) => file.id)
      await say(id, { text: text.trim(), attachments, ...(mention && { mention: mention.id }) })
      setText('')
      agents.clear()
      setFiles([])
    })
  return (
    <form
      class="compose"
      data-stuck="bottom"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) void send()
      }}
    >
      {(failure ?? problem) && <Problem failure={(failure ?? problem) as Failure} />}
      <Attached files={files} onRemove={setFiles} />
      {mention && (
        <p class="soft mentioned">
          {rich('{name} answers this message, and sees nothing else of the conversation.', {
            name: <Name>{mention.name}</Name>,
          })}{' '}
          <button type="button" class="quiet small" onClick={agents.clear}>
            {t('Don’t mention')}
          </button>
        </p>
      )}
      <p class="unseen" role="status">
        {agents.status}
      </p>
      <div class="line">
        {agents.list}
        <label class="unseen" for="message">
          {t('Message to {name}', { name })}
        </label>
        <textarea
          ref={area}
          id="message"
          rows={1}
          placeholder={t('Message to {name}. Type @ to mention an agent.', { name })}
          value={text}
          {...agents.attributes}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            agents.onCaret(currentTarget.selectionStart)
          }}
          onSelect={({ currentTarget }) => agents.onCaret(currentTarget.selectionStart)}
          onKeyDown={(event) => {
            if (agents.onKey(event)) return
            // Enter sends and Shift+Enter breaks the line, except while an input method composes.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            if (text.trim()) void send()
          }}
        />
        <AttachButton
          failure={problem}
          onFailure={setProblem}
          onFile={(file) => setFiles((before) => [...before, file])}
        />
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Send')}
        </button>
      </div>
    </form>
  )
}

/** Messages that load by themselves to reach one that a link names. */
const LOADED_FOR_LINK = 2_000

/** Scrolls to a message and focuses it, once for each link. */
const showMessage = (id: string): void => {
  setFilter('message', '')
  requestAnimationFrame(() => {
    const shown = document.getElementById(`message-${id}`)
    shown?.scrollIntoView({ block: 'center' })
    shown?.focus({ preventScroll: true })
  })
}

/** Begins a further conversation with the same agent. */
const Another = ({ id }: { id: string | null | undefined }) => {
  const { busy, failure, act } = useAction()
  if (!id) return null
  const begin = async (): Promise<void> => {
    const body = { installation_id: id, new: true }
    const chat = await unwrap(api.POST('/console/conversations', { body }))
    navigate(`/chat/${chat.id}`)
    await refresh('messages chats')
  }
  return (
    <>
      <button type="button" class="quiet" aria-busy={busy} onClick={() => act(begin)}>
        {t('New conversation')}
      </button>
      {failure && <Problem failure={failure} />}
    </>
  )
}

const ConversationView = ({ conversation }: { conversation: Conversation }) => {
  const { id, answered_by } = conversation
  const messages = usePages<Message>(`messages of ${id}`, (cursor) =>
    unwrap(
      api.GET('/console/conversations/{id}/messages', {
        params: { path: { id }, query: cursor ? { cursor } : {} },
      }),
    ),
  )
  const end = useRef<HTMLDivElement>(null)
  const newest = messages.items?.[0]?.id
  const [searching, setSearching] = useState(false)
  const target = filter('message')
  useEffect(() => {
    if (!target || !messages.items) return
    // Older messages are loaded until the one that a link names is there.
    if (messages.items.some((message) => message.id === target)) showMessage(target)
    else if (messages.more && messages.items.length < LOADED_FOR_LINK) void messages.more().catch(() => {})
  }, [target, messages.items])
  useEffect(() => {
    if (!newest) return
    if (!target) end.current?.scrollIntoView({ block: 'end' })
    const path = { id }
    // If this fails, the next visit marks it as read.
    void api.PUT('/console/conversations/{id}/read', { params: { path }, body: { message_id: newest } }).then(
      () => refresh('messages chats'),
      () => {},
    )
  }, [newest, id])
  const name = nameOf(conversation)
  const view = useRef<HTMLElement>(null)
  useStuck(view)
  return (
    <section ref={view} class="conversation" aria-labelledby="with">
      <div class="head" data-stuck="top">
        <h2 id="with">
          <Name>{name}</Name>
        </h2>
        <div class="actions">
          {conversation.kind === 'agent' && newest && <Another id={answered_by?.installation_id} />}
          {conversation.task_id && (
            <a class="button" href={`#/tasks/${conversation.task_id}`}>
              {t('View task')}
            </a>
          )}
          {!searching && (
            <button type="button" class="quiet" onClick={() => setSearching(true)}>
              <Icon name="search" />
              {rich('Search<span> in this conversation</span>', { span: (text) => <span class="unseen">{text}</span> })}
            </button>
          )}
        </div>
      </div>
      {searching && <MessageSearch id={id} onClose={() => setSearching(false)} />}
      <div hidden={searching}>
        <More more={messages.more} />
        <Shown known={messages} rows={4}>
          {({ items }) => {
            const said = [...items].reverse()
            const waiting = conversation.kind === 'task' ? undefined : unanswered(said)
            const writing = waiting && (waiting.mention?.name ?? answered_by?.name ?? t('The agent'))
            return (
              <>
                <div aria-live="polite">
                  {said.length === 0 && (
                    <Empty icon="chat" title={t('No messages yet')}>
                      <p>
                        {answered_by
                          ? t('Send {name} a message.', { name: sanitize(answered_by.name) })
                          : t('Write the first message.')}
                      </p>
                    </Empty>
                  )}
                  <Messages
                    items={said}
                    after={(message) =>
                      message.error_code && message.author.type !== 'user' && conversation.kind !== 'task' ? (
                        <NoReply failed={message} items={said} id={id} />
                      ) : null
                    }
                  />
                </div>
                <p class="unseen" role="status">
                  {writing && t('{name} is writing an answer.', { name: sanitize(writing) })}
                </p>
                {waiting?.run_id && writing && <Answering key={waiting.run_id} runId={waiting.run_id} name={writing} />}
              </>
            )
          }}
        </Shown>
      </div>
      {conversation.kind === 'task' ? (
        <p>
          <a href={`#/tasks/${conversation.task_id}`}>{t('Reply on the task page')}</a>
        </p>
      ) : (
        <Compose key={id} id={id} name={sanitize(answered_by?.name ?? name)} own={answered_by?.installation_id} />
      )}
      <div ref={end} />
    </section>
  )
}

const preview = ({ last_message }: Conversation): string => {
  if (!last_message) return t('No messages yet')
  const { author, text: written } = last_message
  const text = plainText(written)
  return sanitize(author.id === identity.value?.user.id ? t('You: {text}', { text }) : text)
}

const Entry = ({ one, chosen }: { one: Conversation; chosen: boolean }) => (
  <li>
    <a class="row" href={`#/chat/${one.id}`} {...(chosen && { 'aria-current': 'true' as const })}>
      <Logo name={nameOf(one)} path={one.kind === 'task' ? undefined : one.answered_by?.logo_path} />
      <span class="grow">
        <span class="named">
          <strong class="line">
            <Name>{nameOf(one)}</Name>
          </strong>
          {one.unread && (
            <span class="dot">
              <span class="unseen">{t('Unread')}</span>
            </span>
          )}
        </span>
        <span class="named soft">
          <span class="line">{preview(one)}</span>
          {one.last_message_at && <When at={one.last_message_at} brief />}
        </span>
      </span>
    </a>
  </li>
)

/** Conversations about an agent's tasks, folded. */
const Tasks = ({
  name,
  items,
  chosen,
}: {
  name: string
  items: readonly Conversation[]
  chosen: string | undefined
}) => {
  const unread = items.filter((one) => one.unread).length
  return (
    <details class="folded" open={items.some(({ id }) => id === chosen)}>
      <summary>
        {name} <span class="soft">{items.length}</span>
        {unread > 0 && <span class="count">{unread}</span>}
        {unread > 0 && <span class="unseen"> {t('unread')}</span>}
      </summary>
      <ul class="rows">
        {items.map((one) => (
          <Entry key={one.id} one={one} chosen={one.id === chosen} />
        ))}
      </ul>
    </details>
  )
}

/** Groups the conversations of tasks by the agent that has the task. */
const byAgent = (tasks: readonly Conversation[]): [name: string, items: Conversation[]][] => {
  const groups = new Map<string, [string, Conversation[]]>()
  for (const one of tasks) {
    const { installation_id, name } = one.answered_by ?? { installation_id: '', name: '' }
    const group = groups.get(installation_id ?? '') ?? [
      name ? t('Tasks of {name}', { name: sanitize(name) }) : t('Tasks without an agent'),
      [],
    ]
    group[1].push(one)
    groups.set(installation_id ?? '', group)
  }
  return [...groups.values()]
}

export default function Chat({ id }: { id?: string }) {
  const chats = usePages<Conversation>('messages chats', (cursor) =>
    unwrap(api.GET('/console/conversations', { params: { query: { limit: 100, ...(cursor && { cursor }) } } })),
  )
  const [text, setText] = useState('')
  const all = chats.items ?? []
  const wanted = folded(text.trim())
  const found = all.filter((one) => folded(`${nameOf(one)} ${one.last_message?.text ?? ''}`).includes(wanted))
  // Wide windows open the main conversation at once; narrow ones show the list first.
  const chosen = id ? all.find((one) => one.id === id) : all[0]
  return (
    <Screen title={t('Conversations')} wide {...(id && { back: { to: '/chat', label: t('All conversations') } })}>
      <Shown known={chats} rows={4}>
        {() => (
          <div class={id ? 'talk chosen' : 'talk'}>
            <div class="list">
              <label class="unseen" for="find-conversation">
                {t('Search conversations')}
              </label>
              <input
                id="find-conversation"
                type="search"
                placeholder={t('Search conversations')}
                autocomplete="off"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
              <ul class="rows">
                {found
                  .filter(({ kind }) => kind !== 'task')
                  .map((one) => (
                    <Entry key={one.id} one={one} chosen={one === chosen} />
                  ))}
              </ul>
              {byAgent(found.filter(({ kind }) => kind === 'task')).map(([name, items]) => (
                <Tasks key={name} name={name} items={items} chosen={chosen?.id} />
              ))}
              {wanted && found.length === 0 && <p class="soft">{t('No conversation matches.')}</p>}
              {wanted && (
                <FoundConversations q={text.trim()} shown={new Set(found.map((one) => one.id))} nameOf={nameOf} />
              )}
              <More more={chats.more} />
              <p>
                <a href="#/agents">{t('Start a conversation with another agent')}</a>
              </p>
            </div>
            {chosen ? (
              <div class={id ? '' : 'beside'}>
                <ConversationView key={chosen.id} conversation={chosen} />
              </div>
            ) : (
              id && <Elsewhere id={id} />
            )}
          </div>
        )}
      </Shown>
    </Screen>
  )
}

/** A conversation that isn't on the loaded pages of the list. */
const Elsewhere = ({ id }: { id: string }) => {
  const one = useData<Conversation>(`messages one ${id}`, () =>
    unwrap(api.GET('/console/conversations/{id}', { params: { path: { id } } })),
  )
  return (
    <Shown known={one} rows={4}>
      {(conversation) => <ConversationView conversation={conversation} />}
    </Shown>
  )
}
