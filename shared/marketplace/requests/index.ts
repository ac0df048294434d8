export { listBoard, listRequestsAskedBy, loadVotedRequests, requestSources, statusesOf } from './board.ts'
export { claimRequest, listRequests } from './claim.ts'
export { createAgentRequest } from './create.ts'
export {
  AgentRequestEntity,
  AskedRequestEntity,
  REQUEST_STATUSES,
  RequestVoteEntity,
  requestsBy,
  votesOf,
} from './entity.ts'
export {
  AgentRequestSchema,
  ModeratedRequestSchema,
  NewAgentRequest,
  presentModeratedRequest,
  presentRequest,
  presentWish,
  REQUEST_SORTS,
  SetRequestStatus,
  WishedAgentSchema,
} from './schemas.ts'
export { setRequestStatus } from './set-status.ts'
export { handleOverdueRank, voteFor, withdrawVote } from './vote.ts'
