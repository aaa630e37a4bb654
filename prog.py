import sys, json, urllib.request, http.cookiejar, gzip
base=sys.argv[1]
cj=http.cookiejar.CookieJar(); o=urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cj))
def g(p,**k):
    r=o.open(urllib.request.Request(base+p,**k)); b=r.read()
    if r.headers.get("Content-Encoding")=="gzip": b=gzip.decompress(b)
    print(p,r.status,r.geturl().replace(base,""),b[:90]); return b
j=json.loads(g("/json")); print("self ok:", j["self"].startswith(base), j["self"].replace(base,"B"))
g("/redir"); g("/redirabs"); g("/redirrel"); g("/cookie"); g("/cookie"); g("/gzip"); g("/bin"); g("/png"); g("/text"); g("/empty"); g("/counter"); g("/counter")
g("/ask",data=json.dumps({"q":"what is it?"}).encode(),headers={"Content-Type":"application/json"})
g("/form",data=b"a=1&b=zwei",headers={"Content-Type":"application/x-www-form-urlencoded"})
g("/sse")
