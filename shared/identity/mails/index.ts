export { OutgoingMailEntity } from './entity.ts'
export { handleOverdueMail, newMail, requireMail, sendMail } from './send.ts'
