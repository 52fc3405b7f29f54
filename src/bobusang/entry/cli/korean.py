"""The Korean of notes, loaded only when it is spoken."""

from __future__ import annotations

from bobusang.entry.cli import korean_shops

NOTES = {
    **korean_shops.NOTES,
    # everywhere
    "yes": "예",
    "no": "아니요",
    "nothing here": "없습니다",
    "nothing was changed": "아무것도 바꾸지 않았습니다",
    "nobody can be asked here: add --yes": "여기서는 물어볼 수 없습니다: --yes를 붙이세요",
    "more: --cursor {cursor}": "더 보기: --cursor {cursor}",
    "run {command}": "{command} 실행",
    # doctor
    "Python": "파이썬",
    "folder": "폴더",
    "disk": "디스크",
    "database": "데이터베이스",
    "clock": "시계",
    "API": "API",
    "workers": "워커",
    "leader": "리더",
    "alerts": "경보",
    "settings": "설정",
    "install Python 3.11 or newer": "파이썬 3.11 이상을 설치하세요",
    "choose another with --home or BOBUSANG_HOME": "--home이나 BOBUSANG_HOME으로 다른 폴더를 고르세요",
    "change its rights, or choose another": "권한을 바꾸거나 다른 폴더를 고르세요",
    "free some space: a full disk stops all work": "공간을 비우세요: 디스크가 차면 모든 작업이 멈춥니다",
    "set BOBUSANG_LIMITER_URL for all workers, or run only one": (
        "모든 워커에 BOBUSANG_LIMITER_URL을 설정하거나 하나만 실행하세요"
    ),
    "start with `bobusang up`": "`bobusang up`으로 시작하세요",
    "run `bobusang db upgrade`": "`bobusang db upgrade`를 실행하세요",
    "set this machine's clock, by NTP for instance": "이 기계의 시계를 맞추세요 (예: NTP)",
    "start `bobusang up` or `bobusang worker`": "`bobusang up`이나 `bobusang worker`를 시작하세요",
    "start `bobusang up` or `bobusang scheduler`": "`bobusang up`이나 `bobusang scheduler`를 시작하세요",
    "see `bobusang alerts`": "`bobusang alerts`를 보세요",
    # db
    "{database} is at {current} already": "{database}: 이미 {current}입니다",
    "{database} is now at {current}": "{database}: {current}(으)로 올렸습니다",
    # dead letters
    "{count} run again": "{count}건을 다시 실행합니다",
    "{count} were thrown away": "{count}건을 버렸습니다",
    "{matched} would run again": "{matched}건을 다시 실행하게 됩니다",
    "{matched} would be thrown away": "{matched}건을 버리게 됩니다",
    "the input of task {id} was changed": "태스크 {id}의 입력을 고쳤습니다",
    "{command} runs it again": "{command}로 다시 실행합니다",
    "attempts": "시도",
    "throw {count} dead letters away?": "데드레터 {count}건을 버릴까요?",
    "{count} more match": "{count}건이 더 있습니다",
    "{count} of those named are no dead letters": "지정한 것 가운데 {count}건은 데드레터가 아닙니다",
    # what came of a batch
    "failed": "실패",
    "left out": "제외",
    "new causes": "새로 생긴 원인",
    "causes that are gone": "없어진 원인",
    "nothing failed and nothing was left out": "실패한 것도 제외된 것도 없습니다",
    "there is no batch of this mode before it": "같은 방식의 이전 배치가 없습니다",
    "{batch} took {seconds} s, {before} took {seconds_before} s": (
        "{batch}: {seconds}초, {before}: {seconds_before}초 걸렸습니다"
    ),
    # search
    "{total} found": "{total}건을 찾았습니다",
    "\nnot watching any more; whoever leads goes on with it. {command} shows it": (
        "\n더 지켜보지 않습니다. 작업은 이끄는 프로세스가 계속합니다. {command}로 볼 수 있습니다"
    ),
    "the index was made anew: {done} products": "색인을 새로 만들었습니다: 상품 {done}개",
    "these are the answers of this command alone: --url asks a running program": (
        "이 명령이 가진 답뿐입니다: 실행 중인 프로그램에는 --url로 물어보세요"
    ),
    "{forgotten} answers were forgotten": "답 {forgotten}개를 지웠습니다",
    "{compared} products compared: {missing} missing, {extra} too many, {different} different; {repaired} repaired": (
        "상품 {compared}개를 비교했습니다: 빠짐 {missing}, 남음 {extra}, 다름 {different}; 고침 {repaired}"
    ),
    # jobs and tasks
    "job {id} was started": "작업 {id}을(를) 시작했습니다",
    "job {id} has this key already": "이 키의 작업 {id}이(가) 이미 있습니다",
    "job {id} was cancelled": "작업 {id}을(를) 취소했습니다",
    "job {id} is paused": "작업 {id}을(를) 일시정지했습니다",
    "job {id} goes on": "작업 {id}을(를) 재개했습니다",
    "the failed tasks of job {id} run again": "작업 {id}의 실패한 태스크를 다시 실행합니다",
    "{action} {count} jobs?": "작업 {count}개에 {action}을(를) 할까요?",
    "cancel {count} jobs?": "작업 {count}개를 취소할까요?",
    "steps": "단계",
    "errors": "오류",
    "{command} shows them one by one": "{command}로 하나씩 볼 수 있습니다",
    "{command} shows what failed": "{command}로 실패한 것을 볼 수 있습니다",
    "it waits: {reason}": "대기 중: {reason}",
    "task {id} runs again": "태스크 {id}을(를) 다시 실행합니다",
    "task {id} runs now": "태스크 {id}을(를) 지금 실행합니다",
    "attempts that did not succeed": "성공하지 못한 시도",
    "{count} retries": "재시도 {count}",
    "{count} failed": "실패 {count}",
    "\nnot watching any more; the job goes on. {command} watches it again": (
        "\n보기만 그쳤고 작업은 계속됩니다. {command}로 다시 볼 수 있습니다"
    ),
    "no worker is running: start one with {command}": "실행 중인 워커가 없습니다: {command}로 시작하세요",
    # products
    "seller": "판매자",
    "product {id} is {mall}/{key}": "상품 {id}: {mall}/{key}",
    "product {id} was changed; locked: {locked}": "상품 {id}을(를) 고쳤습니다. 잠긴 항목: {locked}",
    "product {id} was unlocked; locked: {locked}": "상품 {id}의 잠금을 풀었습니다. 잠긴 항목: {locked}",
    "delete product {id}?": "상품 {id}을(를) 삭제할까요?",
    "product {id} was deleted": "상품 {id}을(를) 삭제했습니다",
    "{command} brings it back": "{command}로 되살립니다",
    "product {id} is back": "상품 {id}을(를) 되살렸습니다",
    "product {id} begins anew: what the market has of it is closed, and the next FULL lists it": (
        "상품 {id}을(를) 새로 시작합니다. 마켓의 기존 리스팅은 내려가고 다음 FULL이 새로 등록합니다"
    ),
    "the options of product {id} are what its mall calls them now": (
        "상품 {id}의 옵션은 지금 몰이 부르는 이름을 따릅니다"
    ),
    "close for good what the market has of {count} products held as {why}, and list them anew?": (
        "{why}(으)로 보류된 상품 {count}개의 기존 리스팅을 완전히 내리고 새로 등록할까요?"
    ),
    "are the options of {count} products held as {why} what their malls call them now?": (
        "{why}(으)로 보류된 상품 {count}개의 옵션이 지금 몰이 부르는 이름과 같습니까?"
    ),
    "{file} was written, {bytes} bytes": "{file}에 {bytes}바이트를 썼습니다",
    "{new} new, {changed} changed, {same} the same, {failed} failed": (
        "새로 {new}, 변경 {changed}, 그대로 {same}, 실패 {failed}"
    ),
    # keys
    "keep it: it cannot be shown again": "보관하세요: 다시 보여 줄 수 없습니다",
    "revoke key {id}?": "키 {id}을(를) 폐기할까요?",
    "key {id} was revoked": "키 {id}을(를) 폐기했습니다",
    # up, worker, scheduler
    "Bobusang {version} is ready": "보부상 {version} 준비됨",
    "  database  {url}": "  데이터베이스  {url}",
    "  screen    {url}": "  화면          {url}",
    "it works once, for a day": "하루 동안 한 번만 쓸 수 있습니다",
    "{name} is {role} now": "{name}의 역할은 이제 {role}입니다",
    "shut user {id} out?": "사용자 {id}을(를) 내보낼까요?",
    "{name} is shut out": "{name}은(는) 들어올 수 없습니다",
    "{name} may come in again": "{name}은(는) 다시 들어올 수 있습니다",
    "  API       {url} (documentation at {url}/docs)": "  API           {url} (문서: {url}/docs)",
    "  API key   in {path}": "  API 키        {path} 안에 있습니다",
    "  API key   {command} makes one": "  API 키        {command}로 만듭니다",
    "  worker    {name}": "  워커          {name}",
    "Ctrl-C finishes what is running and stops; twice leaves at once.": (
        "Ctrl-C는 실행 중인 것을 마치고 멈춥니다. 두 번 누르면 바로 나갑니다."
    ),
    "stopping: what is running is finished first (Ctrl-C again leaves at once)": (
        "멈추는 중: 실행 중인 것을 먼저 마칩니다 (Ctrl-C를 다시 누르면 바로 나갑니다)"
    ),
    "stopped": "멈췄습니다",
    "left at once; what was running is given back": "바로 나왔습니다. 실행 중이던 것은 되돌려 놓았습니다",
    # queues
    "queues": "큐",
    "lanes": "레인",
    "pools": "풀",
    "the limits of {pool} are set": "{pool}의 한도를 정했습니다",
    "{pool} is blocked": "{pool}을(를) 막았습니다",
    "{pool} goes on": "{pool}을(를) 다시 열었습니다",
    # sources, gate, identities
    "{source} may be collected": "{source}을(를) 수집할 수 있습니다",
    "{source} is collected no more": "{source}을(를) 더 이상 수집하지 않습니다",
    "{source} is tried again": "{source}을(를) 다시 시도합니다",
    "nothing had stopped {source}": "{source}은(는) 멈춰 있지 않았습니다",
    "{source} has its key": "{source}에 키를 주었습니다",
    "{name} cannot be used: {problem}": "{name}을(를) 쓸 수 없습니다: {problem}",
    "{well} of {on} enabled sources are healthy": "켜진 소스 {on}개 가운데 {well}개가 정상입니다",
    "{url}: {result}": "{url}: {result}",
    "robots.txt": "robots.txt",
    "robots.txt: {result}": "robots.txt: {result}",
    "streams": "스트림",
    "gate": "관문",
    "last decisions of the gate": "관문의 지난 결정",
    "today": "오늘",
    "key": "키",
    "the key is empty": "키가 비어 있습니다",
    "nobody can be asked here: give --file": "여기서는 물어볼 수 없습니다: --file을 주세요",
    "identities": "수집 신원",
    "identity {id} is used no more": "수집 신원 {id}을(를) 더 이상 쓰지 않습니다",
    "identity {id} may be used again": "수집 신원 {id}을(를) 다시 쓸 수 있습니다",
    # brands, runs
    "{seen} brands of {mall} were seen, {new} of them new": "{mall}의 브랜드 {seen}개를 보았고 {new}개가 새것입니다",
    "{command} shows those to be reviewed": "{command}로 검토할 브랜드를 볼 수 있습니다",
    "brand {id} is accepted": "브랜드 {id}을(를) 승인했습니다",
    "brand {id} is blocked": "브랜드 {id}을(를) 차단했습니다",
    "brand {id} is proposed again": "브랜드 {id}을(를) 제안 상태로 되돌렸습니다",
    "{count} brands would be changed": "브랜드 {count}개를 바꾸게 됩니다",
    "{count} brands were changed": "브랜드 {count}개를 바꿨습니다",
    "{action} {count} brands?": "브랜드 {count}개에 {action}을(를) 할까요?",
    "job {id} collects {target}": "작업 {id}이(가) {target}을(를) 수집합니다",
    "job {id} collects {target} already": "작업 {id}이(가) 이미 {target}을(를) 수집합니다",
    "{command} watches it": "{command}로 볼 수 있습니다",
    "{command} shows what waits for a person": "{command}로 사람을 기다리는 것을 볼 수 있습니다",
    "fetches": "요청",
    # batches
    "batch {batch} was started for {brands} brands": "배치 {batch}을(를) 브랜드 {brands}개로 시작했습니다",
    "batch {batch} runs already and is gone on with": "배치 {batch}이(가) 이미 진행 중이어서 이어서 합니다",
    "batch {batch}: {tasks} tasks of {brands} brands run again": (
        "배치 {batch}: 브랜드 {brands}개의 태스크 {tasks}개를 다시 실행합니다"
    ),
    "batch {batch} was cancelled: {count} brands had not ended": (
        "배치 {batch}을(를) 취소했습니다: 브랜드 {count}개가 끝나지 않았습니다"
    ),
    "batch {batch} is paused: {count} brands wait": (
        "배치 {batch}을(를) 일시정지했습니다: 브랜드 {count}개가 기다립니다"
    ),
    "batch {batch} goes on with {count} brands": "배치 {batch}을(를) 재개했습니다: 브랜드 {count}개",
    "cancel batch {batch}?": "배치 {batch}을(를) 취소할까요?",
    "left out, because another batch has them: {brands}": "다른 배치에 있어 제외했습니다: {brands}",
    "{command} runs what failed again": "{command}로 실패한 것을 다시 실행합니다",
    "\nnot watching any more; the batch goes on. {command} watches it again": (
        "\n보기만 그쳤고 배치는 계속됩니다. {command}로 다시 볼 수 있습니다"
    ),
    "brands": "브랜드",
    "{rate}/min": "분당 {rate}",
    "{span} left": "{span} 남음",
    "{count}/{total} brands": "브랜드 {count}/{total}",
    "and {count} more brands": "외 브랜드 {count}개",
    "done   ~held or skipped   !failed": "완료   ~보류·건너뜀   !실패",
    # schedules
    "schedule {name} was added (id {id})": "스케줄 {name}을(를) 추가했습니다 (번호 {id})",
    "schedule {id} was changed": "스케줄 {id}을(를) 바꿨습니다",
    "{name} fires no more": "{name}은(는) 더 이상 실행되지 않습니다",
    "{name} fires again": "{name}은(는) 다시 실행됩니다",
    "delete schedule {name}?": "스케줄 {name}을(를) 지울까요?",
    "{name} was deleted": "{name}을(를) 지웠습니다",
    "next fires": "다음 실행",
    "last fires": "지난 실행",
    "no job was started": "시작된 작업이 없습니다",
    "its overlap policy said no, or its workflow is switched off": "겹침 정책 때문이거나 워크플로가 꺼져 있습니다",
    # workflows
    "{name} is now at version {version}": "{name}: 이제 버전 {version}입니다",
    "{name} is at version {version} already": "{name}: 이미 버전 {version}입니다",
    "{file} is in order": "{file}: 이상 없습니다",
    "{file} is in order; nothing was stored": "{file}: 이상 없습니다. 저장하지 않았습니다",
    "{workflow} is switched on": "{workflow}을(를) 켰습니다",
    "{workflow} is switched off": "{workflow}을(를) 껐습니다",
    "{type} targets are for {workflow}": "{type} 대상은 {workflow}(으)로 처리합니다",
    "{workflow} has no limits": "{workflow}에는 한도가 없습니다",
    # suppliers and webhooks
    "{events} webhooks of {source} are read again": "{source}의 웹훅 {events}건을 다시 읽습니다",
    "supplier {supplier} was added": "공급사 {supplier}을(를) 추가했습니다",
    "{supplier}: {problem}": "{supplier}: {problem}",
    "supplier {supplier} was changed": "공급사 {supplier}을(를) 바꿨습니다",
    "supplier {id} is paused": "공급사 {id}을(를) 일시정지했습니다",
    "supplier {id} takes part again": "공급사 {id}을(를) 다시 수집합니다",
    "{count} jobs collect {supplier}": "작업 {count}개로 {supplier}을(를) 수집합니다",
    "nothing was begun for {supplier}: {why}": "{supplier}은(는) 시작할 것이 없습니다: {why}",
    "job {id} syncs the suppliers": "작업 {id}이(가) 공급사 상품을 동기화합니다",
    "job {id} is syncing the suppliers already": "작업 {id}이(가) 이미 공급사 상품을 동기화하고 있습니다",
    "last webhooks": "지난 웹훅",
    "last files": "지난 파일",
    # sellers, crawls, records, held writes
    "seller {seller} was added (id {id}), crawled every {cadence}": (
        "판매자 {seller}을(를) 추가했습니다 (번호 {id}), {cadence}마다 수집합니다"
    ),
    "{command} crawls it now": "{command}로 지금 수집합니다",
    "seller {id} was changed": "판매자 {id}을(를) 바꿨습니다",
    "the next fire stays at {instant}": "다음 실행은 그대로 {instant}입니다",
    "seller {id} is paused": "판매자 {id}을(를) 일시정지했습니다",
    "seller {id} is crawled again": "판매자 {id}을(를) 다시 수집합니다",
    "seller {id} is disabled": "판매자 {id}을(를) 사용 중지했습니다",
    "{command} shows how far it is": "{command}로 진행 상황을 볼 수 있습니다",
    "quality": "품질",
    "last runs": "지난 수집",
    "seen": "목격",
    "lineage": "계보",
    "changes": "변경",
    "version {old} → {new}": "버전 {old} → {new}",
    "{command} shows the page": "{command}로 원본 페이지를 봅니다",
    "held write {id} was written": "보류 {id}을(를) 반영했습니다",
    "held write {id} was rejected": "보류 {id}을(를) 거부했습니다",
    "{count} would be written": "{count}건을 반영하게 됩니다",
    "{count} would be rejected": "{count}건을 거부하게 됩니다",
    "write {count} held writes?": "보류 {count}건을 반영할까요?",
    "reject {count} held writes?": "보류 {count}건을 거부할까요?",
    "{count} were written": "{count}건을 반영했습니다",
    "{count} were rejected": "{count}건을 거부했습니다",
    "{count} could not be and stay open": "{count}건은 반영하지 못해 보류로 남습니다",
    # accounts, mappings, masters
    "calls": "호출",
    "listings": "리스팅",
    "policy": "정책",
    "account {account} was added on {market}": "{market}에 계정 {account}을(를) 추가했습니다",
    "{command} shows what it may call": "{command}로 호출 한도를 볼 수 있습니다",
    "account {account} was changed": "계정 {account}을(를) 바꿨습니다",
    "account {account} sends nothing": "계정 {account}은(는) 아무것도 보내지 않습니다",
    "account {account} may send again": "계정 {account}은(는) 다시 보낼 수 있습니다",
    "category {id} is accepted": "카테고리 {id}을(를) 승인했습니다",
    "category {id} is blocked": "카테고리 {id}을(를) 차단했습니다",
    "category {id} is proposed again": "카테고리 {id}을(를) 제안 상태로 되돌렸습니다",
    "{count} categories would be changed": "카테고리 {count}개를 바꾸게 됩니다",
    "{count} categories were changed": "카테고리 {count}개를 바꿨습니다",
    "{action} {count} categories?": "카테고리 {count}개에 {action}을(를) 할까요?",
    "{command} takes one over": "{command}로 하나를 정할 수 있습니다",
    "{brands} brands and {categories} categories have a proposal": (
        "브랜드 {brands}개와 카테고리 {categories}개에 제안이 있습니다"
    ),
    "{command} shows them": "{command}로 볼 수 있습니다",
    "{kind} {id} stands for nothing now": "{kind} {id}에 정해진 것이 없습니다",
    "{kind} {id} is the market's {market}": "{kind} {id}은(는) 마켓의 {market}입니다",
    "{command} accepts it": "{command}로 승인합니다",
    "{count} rows of {malls} were taken": "{malls}의 {count}줄을 받아들였습니다",
    "{count} rows are in {file}": "{file}에 {count}줄을 저장했습니다",
    "{kind} is at version {version} with {rows} rows": "{kind}: 버전 {version}, {rows}줄",
    "{kind} has not changed": "{kind}: 바뀐 것이 없습니다",
    "{command} uses them": "{command}에 쓰입니다",
    "{count} rows are gone: {names}": "{count}줄이 사라졌습니다: {names}",
    # glossary, translations
    "{term} is {translation} from now on": "이제 {term}은(는) {translation}(으)로 옮깁니다",
    "{term} is not {translation} any more": "{term}은(는) 더는 {translation}(으)로 옮기지 않습니다",
    "{term} is {translation} already": "{term}은(는) 이미 {translation}(으)로 옮깁니다",
    "its pictures stand in this order": "이미지가 이 순서로 놓입니다",
    "its pictures are shown by this right": "이미지의 사용 권리를 기록했습니다",
    "it has the new cover": "새 대표 이미지로 바꾸었습니다",
    "the next FULL fetches its pictures again": "다음 FULL에서 이미지를 다시 가져옵니다",
    "what looks like it is refused from now on; {products} products have such a picture": (
        "이제 이와 비슷한 이미지는 쓰지 않습니다. 해당 상품 {products}개"
    ),
    "what looks like it is allowed again; {products} products have such a picture": (
        "이와 비슷한 이미지를 다시 쓸 수 있습니다. 해당 상품 {products}개"
    ),
    "it may stand on many products; {products} have it": "여러 상품에 쓸 수 있는 이미지입니다. 해당 상품 {products}개",
    "{count} terms were taken away": "용어 {count}개를 뺐습니다",
    "{count} of those named were never added": "지정한 것 가운데 {count}개는 추가한 용어가 아닙니다",
    "{terms} terms were read, {changed} of them new or changed": (
        "용어 {terms}개를 읽었고 {changed}개가 새것이거나 바뀌었습니다"
    ),
    "{command} makes products anew by it": "{command}로 상품을 다시 만듭니다",
    "{command} goes on with one that a model declined": "{command}로 모델이 거절한 상품을 이어서 합니다",
    # prices
    "{rows} rows of {sheet} were read, {changed} of them new or changed": (
        "{sheet} {rows}줄을 읽었고 {changed}줄이 새것이거나 바뀌었습니다"
    ),
    "{given} given: {trusted} are new and may be used, {held} are held": (
        "받은 환율 {given}건: 새로 쓸 수 있는 것 {trusted}건, 보류 {held}건"
    ),
    "rate {id} is believed": "환율 {id}을(를) 승인했습니다",
    "rate {id} is refused": "환율 {id}을(를) 거부했습니다",
    "lowest comparable offer": "비교 가능한 최저가",
    "{account} prices by its own policy now": "{account}은(는) 이제 자체 정책으로 가격을 정합니다",
    "{market} prices by this policy now": "{market}은(는) 이제 이 정책으로 가격을 정합니다",
    # listings
    "{sku} was closed already": "{sku}은(는) 이미 닫혀 있습니다",
    "{sku} is closed: the market is told within seconds": "{sku}을(를) 닫았습니다. 몇 초 안에 마켓에 전해집니다",
    "{sku} was not closed": "{sku}은(는) 닫혀 있지 않습니다",
    "{sku} is open: the next run brings it back": "{sku}을(를) 열었습니다. 다음 실행 때 다시 판매합니다",
    "reasons": "이유",
    "products": "상품",
    "confirmed": "확인된 내용",
    "nothing has been sent for {sku} yet": "{sku}은(는) 아직 보낸 것이 없습니다",
    "{kind} (call {call}) on {place}: {state}": "{place} {kind} (호출 {call}): {state}",
    "{seconds} s from the first step to the last": "처음 단계부터 마지막까지 {seconds}초",
    "complete: what the market has is what was sent": "완료: 마켓에 있는 것이 보낸 것과 같습니다",
    "what the market has differs: {drift}": "마켓에 있는 것이 다릅니다: {drift}",
    "the market refused it ({cause}): {problems}": "마켓이 거부했습니다 ({cause}): {problems}",
    "hold {id} is approved": "보류 {id}을(를) 승인했습니다",
    "hold {id} is rejected": "보류 {id}을(를) 거부했습니다",
    "webhook {id} is applied again": "웹훅 {id}을(를) 다시 적용합니다",
    # demo
    "fetching {pages} pages from {base} by workflow 'demo' in {home}": (
        "워크플로 'demo'로 {base}에서 {pages}쪽을 가져옵니다 (폴더 {home})"
    ),
    "\njob {id} ended with {status}: {tasks} tasks in {seconds} s, {rate} tasks/s, {retries} retries": (
        "\n작업 {id} 종료 {status}: 태스크 {tasks}개, {seconds}초, 초당 {rate}개, 재시도 {retries}회"
    ),
    "dead letter: task {task_id}, {reason_class}: {error}": "데드레터: 태스크 {task_id}, {reason_class}: {error}",
    "going on with job {id}, which was interrupted": "중단된 작업 {id}을(를) 이어서 합니다",
    "\nTry next:": "\n다음을 해 보세요:",
    "\nstopped; nothing is lost: {command} goes on with it": "\n멈췄습니다. 잃은 것은 없습니다: {command}로 이어집니다",
    # the demo, what a run would send
    "\nboth runs took {seconds} s": "\n두 실행에 {seconds}초 걸렸습니다",
    "a reviewed mapping of brands and categories: {rows} rows, some not reviewed yet": (
        "검토한 브랜드·카테고리 매핑: {rows}줄, 일부는 아직 검토 전입니다"
    ),
    "held for a person": "사람을 기다리는 상품",
    "converted, but not on sale": "변환했지만 판매 중이 아닌 상품",
    "going on with what is in this folder": "이 폴더에 있는 것으로 이어서 합니다",
    "\n{hours} hours later in the sandbox: prices moved, things sold out and returned": (
        "\n샌드박스에서 {hours}시간 뒤: 가격이 움직이고 품절과 재입고가 있었습니다"
    ),
    "account {name}; its secrets are references": "계정 {name}: 비밀 값은 참조로만 둡니다",
    "sandbox at {url}: two malls and a market, seeded": "샌드박스 {url}: 몰 둘과 마켓 하나",
    "the program at {url}, SQLite and files in {home}": "프로그램 {url}, {home}의 SQLite와 파일",
    "the market's lists: {rows} rows in {lists}": "마켓의 목록 {lists}개, {rows}줄",
    "\n{mode}: going on with batch {batch}": "\n{mode}: 배치 {batch}을(를) 이어서 합니다",
    "\n{mode}: batch {batch} of {brands} brands": "\n{mode}: 브랜드 {brands}개의 배치 {batch}",
    "nothing was sent; calls it would cost: {costs}; {held} held, {idle} as confirmed": (
        "보낸 것은 없습니다. 들 호출: {costs}; 보류 {held}건, 그대로 {idle}건"
    ),
    # suppliers' spreadsheets
    "{command} imports it": "{command}로 가져옵니다",
    "file {id} was imported already": "파일 {id}은(는) 이미 가져왔습니다",
    "job {job} imports file {id}": "작업 {job}이(가) 파일 {id}을(를) 가져옵니다",
    "file {id} was thrown away": "파일 {id}을(를) 버렸습니다",
    "columns": "열",
    "problems": "문제",
    "columns that are not read: {names}": "읽지 않는 열: {names}",
    "no column was found for {names}": "열을 찾지 못했습니다: {names}",
    "{products} products in {rows} rows; {refused} rows without a code, {problems} problems": (
        "{rows}행에 상품 {products}개, 코드 없는 행 {refused}개, 문제 {problems}건"
    ),
    "{listed} products: {new} new, {changed} changed, {held} held, {missed} missed, {absent} gone": (
        "상품 {listed}개: 신규 {new}, 변경 {changed}, 보류 {held}, 이번에 없음 {missed}, 사라짐 {absent}"
    ),
    "what the file lacks is not missed: {why}": "파일에 없는 상품을 없는 것으로 보지 않습니다: {why}",
    "it could not be read: {why}": "읽을 수 없었습니다: {why}",
}
