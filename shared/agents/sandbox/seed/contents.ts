import type { Notification } from '#shared/identity/notifications/index.ts'
import type { RunStatus } from '#shared/work/runs/index.ts'
import type { TaskStatus } from '#shared/work/tasks/index.ts'

/**
 * Contents of a seeded sandbox. Times are minutes before now. Phone numbers are from the range reserved for fiction.
 */

export const TASKS: { ago: number; title: string; description: string; status: TaskStatus; report?: string }[] = [
  { ago: 30, title: 'Answer the new enquiries', description: 'Four came in over the weekend.', status: 'todo' },
  {
    ago: 180,
    title: 'Call back the customers without an order this year',
    description: 'They are in the customer list, in the folder Contacts.',
    status: 'in_progress',
  },
  {
    ago: 1_440,
    title: 'Compare our prices with the supplier’s',
    description: 'The price list is among the files.',
    status: 'review',
    report: 'Three articles cost more than the supplier’s new price: desk lamp, shelf, chair.',
  },
  { ago: 4_320, title: 'Count the stock', description: 'Both shelves.', status: 'done', report: '412 pieces.' },
]

export const RUNS: {
  ago: number
  status: Extract<RunStatus, 'succeeded' | 'failed' | 'cancelled'>
  seconds: number
  input: Record<string, unknown>
  output?: Record<string, unknown>
  error?: { error_code: string; error_message: string }
}[] = [
  {
    ago: 20,
    status: 'succeeded',
    seconds: 3,
    input: { question: 'How many desk lamps are in stock?' },
    output: { text: '37 desk lamps.' },
  },
  {
    ago: 95,
    status: 'succeeded',
    seconds: 11,
    input: { question: 'Who ordered last week?' },
    output: { text: 'Two customers: Ada Example and Grace Sample.' },
  },
  {
    ago: 300,
    status: 'failed',
    seconds: 2,
    input: { question: 'What does the shelf cost?' },
    error: { error_code: 'price_list_missing', error_message: 'There is no price list for this year.' },
  },
  { ago: 1_500, status: 'cancelled', seconds: 40, input: { question: 'Write to all customers.' } },
  {
    ago: 2_900,
    status: 'succeeded',
    seconds: 6,
    input: { question: 'Count the stock.' },
    output: { text: '412 pieces.' },
  },
]

export const FOLDERS = ['Contacts', 'Prices'] as const

export const FILES: { folder?: (typeof FOLDERS)[number]; name: string; content_type: string; content: string }[] = [
  {
    folder: 'Contacts',
    name: 'customers.csv',
    content_type: 'text/csv',
    content: [
      'name,company,phone,email,last_order',
      'Ada Example,Example Ltd,+1 202 555 0101,ada@example.com,2026-10-02',
      'Grace Sample,Sample and Sons,+1 202 555 0117,grace@example.com,2026-09-14',
      'Alan Placeholder,,+1 202 555 0123,alan@example.com,2025-12-20',
      'Edsger Specimen,Specimen BV,+1 202 555 0142,edsger@example.com,',
      'Barbara Instance,Instance Inc,+1 202 555 0168,barbara@example.com,2026-11-01',
      '',
    ].join('\r\n'),
  },
  {
    folder: 'Prices',
    name: 'price-list.csv',
    content_type: 'text/csv',
    content: [
      'article,price,supplier_price',
      'desk lamp,39.00,41.50',
      'shelf,120.00,124.00',
      'chair,85.00,88.00',
      '',
    ].join('\r\n'),
  },
  {
    name: 'welcome.txt',
    content_type: 'text/plain',
    content: 'These records are samples. DELETE /api/v1/dev/sandbox/seed removes them.\n',
  },
]

export const NOTIFICATIONS: (Pick<Notification, 'kind' | 'title' | 'body'> & { ago: number })[] = [
  { ago: 15, kind: 'agent.notice', title: 'Stock is low', body: 'Only 37 desk lamps are left.' },
  { ago: 290, kind: 'agent.notice', title: 'A price list is missing', body: 'I found none for this year.' },
  { ago: 1_430, kind: 'agent.notice', title: 'Prices compared', body: 'Three articles are too cheap.' },
]

export const MESSAGES: { ago: number; by: 'user' | 'agent'; text: string }[] = [
  { ago: 25, by: 'user', text: 'How many desk lamps are in stock?' },
  { ago: 20, by: 'agent', text: '37 desk lamps. Shall I order more?' },
  { ago: 12, by: 'user', text: 'Not yet, thank you.' },
]
