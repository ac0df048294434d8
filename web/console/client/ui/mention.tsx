import { useEffect, useId, useState } from 'preact/hooks'
import { sanitize } from '../../../session/text.ts'
import type { Agent } from './mention-list.tsx'

/** An agent that answers a message instead of the conversation's own. */
interface Mention {
  id: string
  name: string
}

/** Longest part of a name that is typed behind `@`. */
const TYPED = /(?:^|\s)@([^\n@]{0,40})$/

type List = typeof import('./mention-list.tsx')

interface Offer extends Pick<List, 'matching' | 'statusOf' | 'MentionList'> {
  agents: readonly Agent[]
}

/**
 * Offers agents while the user types a name behind `@`. The text field keeps the focus, and the arrow keys move through the list.
 * @param own the conversation's own agent, which answers anyway
 */
export const useMention = (
  text: string,
  setText: (text: string) => void,
  field: { current: HTMLTextAreaElement | null },
  own: string | null | undefined,
) => {
  const list = useId()
  const [offer, setOffer] = useState<Offer>()
  const [mention, setMention] = useState<Mention>()
  const [caret, setCaret] = useState(0)
  const [at, setAt] = useState(0)
  const [closed, setClosed] = useState('')
  const typed = TYPED.exec(text.slice(0, caret))?.[1]
  const wanted = typed !== undefined
  useEffect(() => {
    if (!wanted || offer) return
    import('./mention-list.tsx')
      .then(async ({ loadAgents, matching, statusOf, MentionList }) => {
        setOffer({ matching, statusOf, MentionList, agents: await loadAgents() })
      })
      .catch(() => {})
  }, [wanted])
  const complete = mention && typed?.startsWith(mention.name)
  const options =
    !offer || typed === undefined || complete || closed === text ? [] : offer.matching(offer.agents, typed, own)
  const chosen = options[Math.min(at, options.length - 1)]
  const choose = ({ installation_id, name }: Agent): void => {
    const clean = sanitize(name)
    const begin = caret - (typed?.length ?? 0)
    const before = `${text.slice(0, begin)}${clean} `
    setText(before + text.slice(caret))
    setMention({ id: installation_id, name: clean })
    setCaret(before.length)
    setAt(0)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(before.length, before.length)
    })
  }
  /** Handles a key in the text field. @returns true if the list took it */
  const onKey = (event: KeyboardEvent): boolean => {
    if (!chosen || event.isComposing) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((options.indexOf(chosen) + step + options.length) % options.length)
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === 'Tab') choose(chosen)
    else if (event.key === 'Escape') setClosed(text)
    else return false
    event.preventDefault()
    return true
  }
  const optionId = (agent: Agent): string => `${list}-${agent.installation_id}`
  return {
    /** The mentioned agent, while its name is in the text. */
    mention: mention && text.includes(`@${mention.name}`) ? mention : undefined,
    clear: () => setMention(undefined),
    onKey,
    onCaret: (position: number) => setCaret(position),
    /** Attributes that connect the text field with the list. */
    attributes: {
      'aria-autocomplete': 'list' as const,
      ...(chosen && { 'aria-controls': list, 'aria-activedescendant': optionId(chosen) }),
    },
    list: offer && chosen && (
      <offer.MentionList id={list} options={options} chosen={chosen} optionId={optionId} onChoose={choose} />
    ),
    status: offer && chosen && offer.statusOf(options),
  }
}
