"""The Korean of notes on making shops, and on the sandbox where they are tried."""

from __future__ import annotations

NOTES = {
    # sandbox
    "the sandbox is ready: {url}": "샌드박스 준비됨: {url}",
    "  OKmall    {url}/okmall/products/list?brand=나이키(NIKE)&page=1": (
        "  오케이몰  {url}/okmall/products/list?brand=나이키(NIKE)&page=1"
    ),
    "  MustIt    {url}/mustit/ gives a token; its sellers are in {url}/admin/world": (
        "  머스트잇  {url}/mustit/ 에서 토큰을 받습니다. 판매자는 {url}/admin/world 에 있습니다"
    ),
    "  malls     {url}/wconcept/display/  {url}/musinsa/": "  다른 몰   {url}/wconcept/display/  {url}/musinsa/",
    "  shops     {url}/cafe24/product/list.html?cate_no=24  {url}/shopify/": (
        "  쇼핑몰    {url}/cafe24/product/list.html?cate_no=24  {url}/shopify/"
    ),
    "  suppliers {url}/ownerclan/v1/graphql  {url}/domeggook/ssl/api/; name, password and key are sandbox": (
        "  공급사    {url}/ownerclan/v1/graphql  {url}/domeggook/ssl/api/, 아이디·비밀번호·키는 모두 sandbox 입니다"
    ),
    "  others    {url}/news/list  {url}/feed/items.json  {url}/plain/list": (
        "  그 밖     {url}/news/list  {url}/feed/items.json  {url}/plain/list"
    ),
    "  BUYMA     {url}/buyma/api/v1/products.json; what it lists is in {url}/admin/market": (
        "  바이마    {url}/buyma/api/v1/products.json, 리스팅은 {url}/admin/market 에 있습니다"
    ),
    "  a shop    BOBUSANG_SANDBOX_URL={url} bobusang up": "  판매 쪽   BOBUSANG_SANDBOX_URL={url} bobusang up",
    "  secrets   an account's are sandbox:token (--token-ref) and sandbox:secret (--secret-ref)": (
        "  시크릿    계정에는 sandbox:token (--token-ref)과 sandbox:secret (--secret-ref)을 씁니다"
    ),
    "  webhooks  go to {where}": "  웹훅      {where} (으)로 보냅니다",
    "  webhooks  go nowhere: say --webhook-url {example}": "  웹훅      받는 곳이 없습니다: --webhook-url {example}",
    "  kept in   {path}": "  저장 파일  {path}",
    "  a day on  {command}": "  하루 뒤로  {command}",
    "  a fault   {command}": "  장애 내기  {command}",
    "  calls     {url}/admin/counts  {url}/admin/log": "  호출 기록  {url}/admin/counts  {url}/admin/log",
    "Ctrl-C stops it.": "Ctrl-C로 멈춥니다.",
    # shop tools
    "{folder} was made": "{folder} 폴더를 만들었습니다",
    "  {file}  says where the shop lives and how its pages are read": "  {file}  쇼핑몰의 주소와 페이지 읽는 법",
    "  {file}  is a page of it with what must be read there": "  {file}  예시 페이지와 거기서 읽혀야 할 것",
    "{folder} was made: {what}": "{folder} 폴더를 만들었습니다: {what}",
    "this is its front page; its list is {url}": "첫 화면입니다. 상품 목록은 {url}",
    "{method} {url}: {status}, {size} bytes": "{method} {url}: {status}, {size}바이트",
    "left out, for it opens a door: {names}; see identity in docs/shop-grammar.md": (
        "인증 정보라서 뺐습니다: {names}; docs/shop-grammar.md의 identity 참고"
    ),
    "  found    {what}": "  찾음      {what}",
    "  missing  {what}": "  없음      {what}",
    "  unknown  {what}: not every record says it with certainty": "  불확실    {what}: 읽기 불확실한 기록이 있습니다",
    "taken out of the fixture: {count} × {what}": "픽스처에서 가린 것: {what} {count}건",
    "look at {file}; behind each line stands how sure it is": "{file} 확인: 줄마다 얼마나 확실한지 적혀 있습니다",
    "then: {command}": "다음: {command}",
    "unset BOBUSANG_SANDBOX_URL, so that it is found: it is not of the sandbox": (
        "BOBUSANG_SANDBOX_URL을 지우세요. 샌드박스에 있는 가게가 아니어서 지금은 찾지 못합니다"
    ),
    "set BOBUSANG_SHOPS={folder}, so that it is found": "BOBUSANG_SHOPS={folder}(으)로 설정해야 찾을 수 있습니다",
    "then: mend {file}, {command}": "다음: {file} 수정, {command}",
    "{shop}: right, fixtures read: {count}": "{shop}: 이상 없음, 읽은 픽스처 {count}개",
    "{line}": "{line}",
    "{shop} has no fixtures: {command} keeps a page as one": "{shop}에 픽스처가 없습니다: {command}로 남기세요",
    "it cannot be read: {problem}": "읽을 수 없습니다: {problem}",
    "{folder} was written": "{folder} 저장 완료",
    "  taken out: {count} × {what}": "  가린 것: {what} {count}건",
    "  the page cannot be read yet; mend the shop, then {command}": "  아직 읽을 수 없습니다; 수정한 뒤 {command}",
    "  look at what should be read: {file}": "  읽혀야 할 것 확인: {file}",
    "{method} {url}: {status}, {size} bytes, archived as raw page {raw}": (
        "{method} {url}: {status}, {size}바이트, 원본 페이지 {raw}로 보관"
    ),
    "{count} more: --limit shows them": "{count}개 더: --limit로 볼 수 있습니다",
    "no field reads {names}": "어느 필드도 읽지 않는 이름: {names}",
    "page {page} lists {count} of {total}, and is the last": "{page}쪽: 전체 {total}개 중 {count}개, 마지막 쪽",
    "page {page} lists {count} of {total}; an empty page behind it would prove that these are all": (
        "{page}쪽: 전체 {total}개 중 {count}개, 다음 쪽이 비어 있으면 이것이 전부입니다"
    ),
    "page {page} lists {count} of {total}, and the list goes on": "{page}쪽: 전체 {total}개 중 {count}개, 이어집니다",
    "next it would ask for {count} × {stream}:": "다음에 요청할 것: {stream} {count}건",
    "  {method} {url}": "  {method} {url}",
    "{pages} pages were read again by reader {reader}: {items} records, {same} of them as they are stored": (
        "리더 {reader}로 {pages}쪽을 다시 읽음: 레코드 {items}개, 저장된 그대로 {same}개"
    ),
    "{count} pages are no longer kept, or nobody knows what they were asked for": (
        "보관되지 않았거나 무엇을 요청했는지 알 수 없는 페이지: {count}개"
    ),
    "what would change, by field": "필드별 변경 예정",
    "what would change": "변경 예정",
    "pages that are read worse than before": "전보다 잘 읽히지 않는 페이지",
    "no page of {source} was fetched since then": "그때부터 {source}에서 가져온 페이지가 없습니다",
    "nothing would change": "바뀌는 것이 없습니다",
    "--diff shows each of them": "--diff로 하나씩 볼 수 있습니다",
    "{unknown} {field}: the page should say it, and {often} of {count} do not say it with certainty": (
        "{unknown} {field}: {count}개 중 {often}개에서 확실히 읽을 수 없습니다"
    ),
}
